#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "diff/release.h"
#include "rule/report.h"

namespace cuproof {

enum class ChangeKind : uint8_t {
  kGpuLost,
  kGpuJitOnly,  // native code before, now PTX alone
  kGpuImplied,  // code of its own before, now that of an earlier GPU of its major
  kGpuOwn,      // the reverse of the two before
  kGpuGained,
  kDriverFloor,
  kToolkit,
  kLibraryAdded,
  kLibraryRemoved,
  kLibraryVersion,
  kTorchRange,
  kFileAdded,
  kFileRemoved,
  kKernelsAdded,
  kKernelsRemoved,
  kParameters,
  kSpills,
  kRegisters,
};

/// "gpu-lost": for programs.
const char* ChangeKindId(ChangeKind kind);
/// "GPUs lost": a heading.
const char* ChangeKindTitle(ChangeKind kind);

/// One difference, for every file where it is the same.
struct Change {
  ChangeKind kind = ChangeKind::kGpuLost;
  Severity severity = Severity::kNote;
  std::string subject;  // the GPU, library or kernel
  std::string was;      // empty: nothing
  std::string is;
  std::vector<std::string> files;  // paths in the new release, or the old one where it is gone
  std::vector<std::string> evidence;
  int64_t weight = 0;  // of kernels: how much it grew
  std::string kernel;  // its mangled name, where the change is about one kernel
  std::string arch;    // "sm_90", where it is about one architecture of it
};

/// Bytes of images of one target in all files.
struct TargetBytes {
  std::string target;
  uint64_t was = 0;
  uint64_t is = 0;
};

struct Comparison {
  std::string old_name;
  std::string new_name;
  std::vector<Change> changes;  // errors first, then by kind
  std::vector<TargetBytes> bytes;
  uint64_t files = 0;            // matched
  uint64_t kernels = 0;          // matched, each architecture by itself
  uint64_t kernels_changed = 0;  // in registers or spills
  std::vector<Error> problems;
};

/// `gpus`: those that both were read for.
Comparison Compare(const Release& before, const Release& after, const std::vector<Gpu>& gpus);

/// The kernels of one pair of files; for compare.cc.
void CompareKernels(const ReleaseFile& before, const ReleaseFile& after, Comparison& comparison);

}  // namespace cuproof
