#include "resource/curve.h"

namespace cuproof {
namespace {

constexpr uint32_t kWarp = 32;
constexpr uint32_t kFewestRegisters = 16;
constexpr uint32_t kMostRegisters = 255;

std::vector<CurveStep> ByRegisters(const LaunchLimits& limits, BlockUse use) {
  std::vector<CurveStep> steps;
  for (use.registers = kFewestRegisters; use.registers <= kMostRegisters; ++use.registers) {
    const uint32_t warps = OccupancyOf(limits, use).warps;
    if (steps.empty() || steps.back().warps != warps)
      steps.push_back({use.registers, use.registers, warps});
    steps.back().last = use.registers;
  }
  return steps;
}

std::vector<CurveStep> ByBlock(const LaunchLimits& limits, BlockUse use) {
  std::vector<CurveStep> steps;
  for (use.threads = kWarp; use.threads <= limits.threads; use.threads += kWarp) {
    steps.push_back({use.threads, use.threads, OccupancyOf(limits, use).warps});
  }
  return steps;
}

}  // namespace

std::optional<Curves> CurvesOf(const KernelResources& kernel, uint32_t sm,
                               const LaunchQuestion& question) {
  const auto limits = LaunchLimitsOf(sm);
  const auto now = AnswerLaunch(kernel, sm, question);
  if (!limits || !now || now->block == 0) return std::nullopt;
  const auto use = UseOf(kernel, now->block, question.dynamic_shared);
  return Curves{*now, use->registers, ByRegisters(*limits, *use), ByBlock(*limits, *use)};
}

}  // namespace cuproof
