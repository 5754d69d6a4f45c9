#include "resource/advice.h"

#include <algorithm>

#include "target/table.h"

namespace cuproof {
namespace {

constexpr uint32_t kFewestRegisters = 16;  // ptxas takes no lower --maxrregcount
constexpr uint32_t kMostRegisters = 255;

RegisterStep StepAt(const LaunchLimits& limits, BlockUse use, uint32_t registers) {
  use.registers = registers;
  const Occupancy occupancy = OccupancyOf(limits, use);
  return {registers, occupancy.blocks, occupancy.warps};
}

std::optional<RegisterStep> Gain(const LaunchLimits& limits, const BlockUse& use, uint32_t blocks) {
  for (uint32_t registers = std::min(use.registers, kMostRegisters + 1);
       registers > kFewestRegisters;) {
    const RegisterStep step = StepAt(limits, use, --registers);
    if (step.blocks > blocks) return step;
  }
  return std::nullopt;
}

std::optional<RegisterStep> Loss(const LaunchLimits& limits, const BlockUse& use, uint32_t blocks) {
  for (uint32_t registers = use.registers; registers < kMostRegisters;) {
    const RegisterStep step = StepAt(limits, use, ++registers);
    if (step.blocks < blocks) return step;
  }
  return std::nullopt;
}

// The most that `blocks` of them still fit with, up to what a block can opt in to.
uint64_t SharedToSpare(const LaunchLimits& limits, BlockUse use, uint32_t blocks) {
  const uint64_t now = use.shared;
  uint64_t fits = now;
  uint64_t fails = std::max<uint64_t>(limits.shared_optin, now) + 1;
  while (fits + 1 < fails) {
    use.shared = fits + (fails - fits) / 2;
    (OccupancyOf(limits, use).blocks >= blocks ? fits : fails) = use.shared;
  }
  return fits - now;
}

uint64_t Left(uint64_t all, uint64_t used) { return all > used ? all - used : 0; }

}  // namespace

uint32_t MultiprocessorsOf(std::string_view product) {
  const Table& table = Table::Get("multiprocessors");
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.At(i, "name") == product) return ParseNumber(table.At(i, "multiprocessors"));
  }
  return 0;
}

std::optional<Advice> AdviceFor(const KernelResources& kernel, uint32_t sm,
                                const LaunchQuestion& question) {
  const auto limits = LaunchLimitsOf(sm);
  const auto now = AnswerLaunch(kernel, sm, question);
  if (!limits || !now) return std::nullopt;
  Advice advice;
  advice.now = *now;
  const auto use = UseOf(kernel, now->block, question.dynamic_shared);
  if (now->block != 0) {
    advice.gain = Gain(*limits, *use, now->occupancy.blocks);
    if (now->occupancy.blocks > 0) {
      advice.loss = Loss(*limits, *use, now->occupancy.blocks);
      advice.shared_to_spare = SharedToSpare(*limits, *use, now->occupancy.blocks);
    }
    advice.register_cap = RegisterCap(*limits, now->block);
  }
  advice.shared_default = Left(limits->shared_default, use->shared);
  advice.shared_optin = Left(limits->shared_optin, use->shared);
  advice.stack_of_sm =
      uint64_t{std::max(kernel.cumulative_stack.value_or(0), kernel.stack_frame.value_or(0))} *
      limits->sm_threads;
  return advice;
}

}  // namespace cuproof
