#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuproof {

/// A launch that a program's log says has failed for what one block takes.
struct LaunchFailure {
  uint64_t line = 0;             // from 1
  std::string text;              // the line, cut
  uint32_t threads = 0;          // of a block; 0: no line nearby tells
  uint64_t threads_line = 0;     // that told it
  uint64_t shared_required = 0;  // bytes; Triton's words. 0: it is about registers
  uint64_t shared_limit = 0;
};

bool LooksLikeLaunchFailure(std::string_view text);

/// Failures 701 in the words of the driver, the runtime, PyTorch, CuPy, Numba, JAX and Triton. The
/// size of the block is taken from the same line or from one of the lines around it.
std::vector<LaunchFailure> ReadLaunchFailures(std::string_view text);

}  // namespace cuproof
