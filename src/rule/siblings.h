#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "rule/report.h"

namespace cuproof {

/// What it means that a file does not serve a GPU which another file of the same root serves.
enum class Role : uint8_t {
  kRequired,  // nothing tells that a program can do without it
  kVariant,   // one of several for other architectures or CUDA versions: a program picks another
  kOptional,  // a library that no file of the root links to: only what it adds is lost
};

/// The files that run on each GPU, by name: a report can have 100,000 files, and each that does not
/// run asks for the others.
class Siblings {
 public:
  explicit Siblings(const Report& report);

  /// Of a file that does not run on target.gpus[gpu].
  Role RoleOf(const FileReport& file, size_t gpu) const;

 private:
  struct Running {
    std::set<std::string> variants;  // names without numbers
    std::set<std::string> folders;
  };

  const Report& report_;
  std::map<std::pair<uint32_t, size_t>, Running> running_;  // by root and GPU
};

}  // namespace cuproof
