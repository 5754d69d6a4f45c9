#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "container/unit.h"
#include "image/file_images.h"
#include "resource/kernel_survey.h"
#include "target/target.h"
#include "target/verdict.h"

namespace cuproof {

/// How a GPU is served by a file, best first.
enum class Cover : uint8_t {
  kOwn,        // code for its own architecture
  kSameMajor,  // code for an earlier one of its major, which it runs
  kJit,        // only PTX: compiled at the first launch
  kNone,
  kUnknown,
};

/// One file of a release.
struct ReleaseFile {
  std::string path;  // within the release
  std::string key;   // what it is matched by: MatchKey
  uint64_t size = 0;
  std::vector<Cover> covers;        // by GPU
  std::vector<std::string> floors;  // by GPU: the driver floor as text, empty where it is none
  std::map<std::string, uint64_t> bytes;        // of images, by target
  std::set<std::string> toolkits;               // that its cubins were made with
  std::set<std::string> needed;                 // DT_NEEDED
  std::map<std::string, std::string> versions;  // "GLIBC": "2.34", the newest of a family
  std::string torch;                            // the range that it fits; empty: wants none
  const FileKernels* kernels = nullptr;         // of Release::survey
};

/// Everything that a comparison needs to know about one side.
struct Release {
  std::string argument;
  RootKind kind = RootKind::kFile;
  std::vector<ReleaseFile> files;  // with device code, or that need libraries; by key
  Survey survey;                   // keeps the kernels
  std::vector<Error> problems;
};

struct ReleaseOptions {
  std::vector<Gpu> gpus;
  bool kernels = true;
  bool chosen_gpus = false;  // read kernels for these only
  unsigned threads = 1;
  std::function<void(uint64_t)> on_unit_done = [](uint64_t) {};
};

Release ReadRelease(const std::string& path, const Inventory& inventory,
                    const ReleaseOptions& options);

/// "2.34" is newer than "2.4".
bool NewerVersion(const std::string& a, const std::string& b);

/// A library's name without the hash that auditwheel puts into it: "libx-1a2b3c4d.so.1" and
/// "libx.1a2b3c4d.so.1" give "libx.so.1".
std::string WithoutHash(const std::string& library);

/// A path without what a new release changes in it: versions of packages and libraries, tags of
/// interpreters, hashes that auditwheel adds.
/// "foo-1.2.dist-info/x" -> "foo.dist-info/x", "lib/libx-1a2b3c4d.so.12.1" -> "lib/libx.so".
std::string MatchKey(const std::string& path);

}  // namespace cuproof
