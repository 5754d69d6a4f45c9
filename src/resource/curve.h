#pragma once
#include <cstdint>
#include <vector>

#include "resource/launch_question.h"

namespace cuproof {

/// Warps of a multiprocessor over a range of registers, or of threads in a block.
struct CurveStep {
  uint32_t first = 0;
  uint32_t last = 0;
  uint32_t warps = 0;  // 0: does not launch
};

/// Both curves of one kernel on one GPU.
struct Curves {
  LaunchAnswer now;
  uint32_t registers = 0;
  std::vector<CurveStep> by_registers;  // at the block of `now`; 16 to 255
  std::vector<CurveStep> by_block;      // with its registers; a step for each size in whole warps
};

/// No value: as AnswerLaunch, and where no block launches.
std::optional<Curves> CurvesOf(const KernelResources& kernel, uint32_t sm,
                               const LaunchQuestion& question);

}  // namespace cuproof
