#include "resource/launch_question.h"

#include <algorithm>

#include "target/compat.h"
#include "target/facts.h"

namespace cuproof {
namespace {

// What the kernel was compiled for forbids the block.
bool Forbidden(const KernelResources& kernel, uint32_t threads) {
  const uint32_t compiled = CompiledThreads(kernel);
  if (compiled == 0) return false;
  return kernel.required_threads ? threads != compiled : threads > compiled;
}

}  // namespace

const char* BlockBasisName(BlockBasis basis) {
  switch (basis) {
    case BlockBasis::kAsked:
      return "asked";
    case BlockBasis::kRequired:
      return "required";
    case BlockBasis::kBounds:
      return "launch bounds";
    case BlockBasis::kBest:
      break;
  }
  return "best";
}

std::optional<LaunchAnswer> AnswerLaunch(const KernelResources& kernel, uint32_t sm,
                                         const LaunchQuestion& question) {
  const auto limits = LaunchLimitsOf(sm);
  if (!limits || !kernel.registers) return std::nullopt;
  LaunchAnswer answer;
  answer.sm = sm;
  answer.dynamic_shared = question.dynamic_shared;
  answer.sm_warps = WarpsOf(*limits);
  answer.largest_block = LargestBlock(*limits, kernel, question.dynamic_shared);
  if (question.block != 0) {
    answer.basis = BlockBasis::kAsked;
    answer.block = question.block;
  } else if (const uint32_t compiled = CompiledThreads(kernel)) {
    answer.basis = kernel.required_threads ? BlockBasis::kRequired : BlockBasis::kBounds;
    answer.block = compiled;
  } else {
    answer.block = BestBlock(*limits, kernel, question.dynamic_shared);
  }
  if (Forbidden(kernel, answer.block)) {
    answer.occupancy.limits = {Resource::kCompiled};
  } else {
    const uint32_t tried = answer.block ? answer.block : 32;
    answer.occupancy = OccupancyOf(*limits, *UseOf(kernel, tried, question.dynamic_shared));
  }
  return answer;
}

std::vector<uint32_t> CapabilitiesFor(Arch arch) {
  const uint32_t own = CurrentSm(arch.number);
  std::vector<uint32_t> capabilities = {own};
  for (const Gpu& gpu : AllGpus(true)) {
    if (gpu.sm != own && SassFits(arch, gpu) == Fit::kYes) capabilities.push_back(gpu.sm);
  }
  return capabilities;
}

}  // namespace cuproof
