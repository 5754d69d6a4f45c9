#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "link/closure.h"
#include "symbol/lookup.h"

namespace cuproof {

enum class MissingReason : uint8_t {
  kNowhere,       // in no object of the process
  kNotInScope,    // an object of the process has it, but was loaded without RTLD_GLOBAL
  kOtherVersion,  // an object in scope has the name, under another version
};

const char* MissingReasonName(MissingReason reason);

struct MissingSymbol {
  std::string name;
  std::string version;       // empty: none
  std::string version_file;  // the library that it was linked from, with a version
  uint32_t wanted_by = kNoObject;
  MissingReason reason = MissingReason::kNowhere;
  uint32_t elsewhere = kNoObject;  // the object that has it, out of scope or under another version
  std::string other_version;       // kOtherVersion: under which
  bool function_only = false;      // a call: without RTLD_NOW it would fail at the first one
};

enum class VersionErrorKind : uint8_t {
  kNotFound,       // "version `X' not found": the load fails
  kNoInformation,  // "no version information available": a warning of the loader
  kWeakNotFound,   // a weak version need: a warning
};

const char* VersionErrorKindName(VersionErrorKind kind);

struct VersionError {
  VersionErrorKind kind = VersionErrorKind::kNotFound;
  std::string file;     // as the need names it
  std::string version;  // empty with kNoInformation
  uint32_t wanted_by = kNoObject;
  uint32_t provider = kNoObject;  // the object that was looked into
  std::string newest;             // the highest version of the same family that the provider has
  bool fatal() const { return kind == VersionErrorKind::kNotFound; }
};

/// One load: what the loader would say, all of it instead of the first.
struct LoadReport {
  LoadOutcome outcome;
  std::vector<VersionError> version_errors;
  std::vector<MissingSymbol> missing_symbols;
  std::vector<Error> damage;  // of objects that were part of it
  /// dlopen with RTLD_NOW succeeds.
  bool loads() const;
};

/// Checks versions and symbols of what `outcome` brought into `process`.
LoadReport Resolve(const Process& process, LoadOutcome outcome);

/// Where a reference of an object of `process` binds in a scope; kNoObject: nowhere.
uint32_t BindingOf(const Process& process, const std::vector<uint32_t>& local_scope,
                   const Wanted& wanted);

}  // namespace cuproof
