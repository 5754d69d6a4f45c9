#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bytes/result.h"
#include "container/kept_members.h"
#include "container/unit.h"
#include "rule/host_environment.h"
#include "rule/host_facts.h"

namespace cuproof {

/// A library that the loader would not find.
struct HostLibrary {
  std::string name;
  std::string wanted_by;           // the file that needs it
  std::string chain;               // "_C.so -> libtorch.so": how that one came in; empty: itself
  std::vector<std::string> unfit;  // files of that name for another machine
  std::string elsewhere;  // a file of that name, beside or in the environment, where nobody looks
  std::string origin;     // "$ORIGIN/sub": its folder from that of the file that needs it
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
  bool old_string = false;  // of the two, the wanted one is of the old ABI
  bool not_linked = false;  // who wants it does not name the library that has it
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
  std::string winner_release;  // "12.4.5.8" of the file that a link leads to, or its package's
  std::string loser_release;
};

/// A kernel whose host stub another library of the load exports first.
struct HostStub {
  std::string name;
  std::string winner;
  std::string loser;
  size_t others = 0;  // further kernels of the same two files
  bool two_runtimes = false;
};

/// A function of CUDA that it wants without a version, and that the library which has it takes with
/// other arguments than before (data/cuda_changes.tsv).
struct HostEntryPoint {
  std::string name;
  std::string provider;
  uint16_t major = 0;  // of the provider
};

/// An operator library that two files of a load claim.
struct HostClaim {
  std::string name;
  std::string other;  // a file that it brings along
  std::string first;  // another one of these; empty: the file itself
};

/// What the loader would say if a process of the environment imported this file: all of it, where
/// the loader stops at the first. Without an environment only `facts` is filled.
struct HostLoad {
  HostFacts facts;
  std::shared_ptr<const HostEnvironment> environment;  // none: what it is loaded into is not known
  std::string torch_pin;  // the torch that its package asks for: "2.6.0"
  bool module = false;    // a Python extension: it has a PyInit_ function. Asked where one is
                          // missing
  bool variant =
      false;  // another file of the same set loads: libx_cuda118.so beside libx_cuda128.so
  bool replaced = false;  // LD_LIBRARY_PATH has another file of its name: this one is not loaded
  std::optional<Error> refused;  // it cannot be loaded at all
  size_t python_names = 0;       // of an interpreter that was not found: nothing is said of them
  std::string driver_stub;       // the link-time stub that it would get for the driver's library
  std::vector<std::string> not_there;  // of facts.opened: no file of that name would be found
  std::vector<HostLibrary> libraries;
  std::vector<HostSymbol> symbols;
  std::vector<HostVersion> versions;
  std::vector<HostCopy> copies;
  std::vector<HostStub> stubs;
  std::vector<HostEntryPoint> entry_points;
  std::vector<HostClaim> claims;
  std::vector<std::string> unused;  // DT_NEEDED entries of which it uses nothing
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
  /// `folder`: the environment. Its own problems are in `problems`. `members` are those of a wheel
  /// that is taken to be installed in it; those in `kept` are taken out of it.
  HostChecker(const std::string& folder, const HostOptions& options,
              const std::vector<const Unit*>& members = {}, KeptMembers* kept = nullptr);
  ~HostChecker();

  /// Nothing for a file that is no shared object of this machine's kind.
  std::unique_ptr<HostLoad> Load(const Unit& unit) const;

  const HostEnvironment& environment() const;

  std::vector<Error> problems;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// What a file says without an environment: nothing for what is no shared object, or wants nothing
/// of torch.
std::unique_ptr<HostLoad> FactsAlone(ByteView file, const std::string& shown);

/// For a file that is named as a shared object and is none: what the loader says of it. Nothing for
/// others.
std::unique_ptr<HostLoad> RefusedAlone(ByteView file, const std::string& shown);

}  // namespace cuproof
