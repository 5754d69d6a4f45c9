#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bytes/result.h"

namespace cuproof {

/// A library that the loader would not find.
struct HostLibrary {
  std::string name;
  std::string wanted_by;            // the file that needs it
  std::string chain;                // "_C.so -> libtorch.so": how that one came in; empty: itself
  std::vector<std::string> unfit;   // files of that name for another machine
  std::string elsewhere;            // a file of that name in the environment, where nobody looks
  std::vector<std::string> others;  // releases of it that are there: "libcudart.so.12"
};

/// A symbol that no object in scope gives.
struct HostSymbol {
  std::string name;
  std::string version;
  std::string version_file;
  std::string wanted_by;
  std::string chain;
  std::string elsewhere;      // who has it, out of scope or under another version
  std::string other_version;  // under which
  std::string nearest;        // "wants f(int), has f(unsigned int)"
  std::string nearest_file;
  bool string_abi = false;  // the nearest differs by the std::string ABI alone
  bool old_string = false;  // the wanted one has the old std::string in it
};

/// A version that a library in scope does not define: GLIBC_2.38 of libc.so.6.
struct HostVersion {
  std::string file;
  std::string version;
  std::string wanted_by;
  std::string provider;
  std::string newest;  // of the same family that it has
};

/// One library name, two files, in one process.
struct HostCopy {
  std::string name;
  std::string winner;
  std::string winner_by;  // "LD_LIBRARY_PATH"
  std::string loser;
  std::string loser_by;
};

/// What the loader would say if a process of the environment imported this file: all of it, where
/// the loader stops at the first.
struct HostLoad {
  bool module = false;  // a Python extension: it has a PyInit_ function. Asked where one is missing
  // Of a file with undefined symbols: which torch has all that it wants of one.
  std::string torch_range;          // "torch 2.4.1 to 2.5.1"; empty: it wants nothing of torch
  std::vector<std::string> bounds;  // "torch 2.6.0 has no _ZN3c10…"
  std::vector<HostLibrary> libraries;
  std::vector<HostSymbol> symbols;
  std::vector<HostVersion> versions;
  std::vector<HostCopy> copies;
};

/// What a process would be made of, for `check`.
struct HostOptions {
  std::string environment;                // empty: that of the root, where it is one
  std::string sysroot;                    // empty: this machine
  std::vector<std::string> library_path;  // LD_LIBRARY_PATH, before that of this process, which is
                                          // taken too where the system is this machine
};

/// Answers for the files of one environment; from any thread.
class HostChecker {
 public:
  /// `folder`: the environment. Its own problems are in `problems`.
  HostChecker(const std::string& folder, const HostOptions& options);
  ~HostChecker();

  /// Nothing for a file that is no shared object of this machine's kind.
  std::unique_ptr<HostLoad> Load(const std::string& path) const;

  std::vector<Error> problems;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cuproof
