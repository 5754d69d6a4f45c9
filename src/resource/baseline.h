#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/result.h"
#include "resource/measured_kernel.h"

namespace cuproof {

/// What a baseline keeps of one kernel for one architecture. Where a file holds several kernels of
/// one name for one architecture, the largest number of each.
struct BaselineKernel {
  std::string file;  // StableFile
  std::string name;  // StableName
  std::string arch;
  std::optional<uint32_t> registers;
  std::optional<uint32_t> stack;
  std::optional<uint64_t> spills;  // bytes, stores and loads; no value: not known exactly
  std::optional<uint32_t> shared;
  uint32_t block = 0;
  std::optional<uint32_t> warps_per_sm;
};

/// Kernels by file, name and architecture, each once.
struct Baseline {
  std::vector<BaselineKernel> kernels;
};

Baseline MakeBaseline(const std::vector<MeasuredKernel>& kernels);

/// JSON, one line a kernel, in a fixed order: a change of one kernel is one line of a review.
std::string BaselineText(const Baseline& baseline);

/// `file` is named in the error.
Result<Baseline> ParseBaseline(std::string_view text, const std::string& file);

}  // namespace cuproof
