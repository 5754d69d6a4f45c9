#include "resource/occupancy.h"

#include <algorithm>
#include <array>

namespace cuproof {
namespace {

constexpr uint32_t kWarp = 32;
constexpr uint32_t kNoLimit = UINT32_MAX;
constexpr uint32_t kMostRegisters = 255;

uint32_t RoundUpWarps(uint32_t threads) { return threads / kWarp + (threads % kWarp != 0); }

uint32_t ByWarps(const LaunchLimits& limits, const BlockUse& use) {
  if (use.threads > limits.threads) return 0;
  return WarpsOf(limits) / RoundUpWarps(use.threads);
}

// The check at launch takes warps as dealt evenly to the partitions; then they lie as they fit.
uint32_t ByRegisters(const LaunchLimits& limits, const BlockUse& use) {
  const uint64_t warp = RegistersOfWarp(limits, use.registers);
  if (warp == 0) return kNoLimit;
  if (use.registers > kMostRegisters ||
      RegistersOfBlock(limits, use.registers, use.threads) > limits.registers)
    return 0;
  const uint64_t warps = limits.registers / limits.partitions / warp * limits.partitions;
  return static_cast<uint32_t>(warps / RoundUpWarps(use.threads));
}

uint32_t ByShared(const LaunchLimits& limits, const BlockUse& use) {
  if (use.shared > limits.shared_optin) return 0;
  const uint64_t unit = std::max<uint32_t>(limits.shared_unit, 1);
  const uint64_t bytes = (use.shared + limits.shared_reserved + unit - 1) / unit * unit;
  if (bytes == 0) return kNoLimit;
  return static_cast<uint32_t>(limits.sm_shared / bytes);
}

uint32_t Share(uint32_t all, uint32_t one) { return all == 0 || one == 0 ? kNoLimit : all / one; }

// In the order of Resource.
using Counts = std::array<uint32_t, 6>;

Counts BlocksBy(const LaunchLimits& limits, const BlockUse& use) {
  return {ByWarps(limits, use),
          limits.sm_blocks,
          ByRegisters(limits, use),
          ByShared(limits, use),
          Share(limits.sm_barriers, use.barriers),
          Share(limits.sm_virtual, use.virtual_resources)};
}

uint32_t Least(const Counts& counts) { return *std::min_element(counts.begin(), counts.end()); }

}  // namespace

const char* ResourceName(Resource resource) {
  switch (resource) {
    case Resource::kWarps:
      return "warps";
    case Resource::kBlocks:
      return "blocks";
    case Resource::kRegisters:
      return "registers";
    case Resource::kShared:
      return "shared memory";
    case Resource::kBarriers:
      return "barriers";
    case Resource::kVirtual:
      return "tensor memory";
    case Resource::kCompiled:
      break;
  }
  return "launch bounds";
}

uint32_t WarpsOf(const LaunchLimits& limits) { return limits.sm_threads / kWarp; }

Occupancy OccupancyOf(const LaunchLimits& limits, const BlockUse& use) {
  Occupancy occupancy;
  if (use.threads == 0 || WarpsOf(limits) == 0) return occupancy;
  const Counts counts = BlocksBy(limits, use);
  occupancy.blocks = Least(counts);
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == occupancy.blocks) occupancy.limits.push_back(static_cast<Resource>(i));
  }
  occupancy.warps = occupancy.blocks * RoundUpWarps(use.threads);
  occupancy.fraction = static_cast<double>(occupancy.warps) / WarpsOf(limits);
  return occupancy;
}

std::optional<BlockUse> UseOf(const KernelResources& kernel, uint32_t threads,
                              uint64_t dynamic_shared) {
  if (!kernel.registers) return std::nullopt;
  return BlockUse{threads, *kernel.registers, kernel.static_shared + dynamic_shared,
                  kernel.barriers.value_or(0), kernel.virtual_resources};
}

uint32_t CompiledThreads(const KernelResources& kernel) {
  if (!kernel.max_threads) return 0;
  uint64_t threads = 1;
  for (const uint32_t extent : *kernel.max_threads) {
    threads = std::min<uint64_t>(threads * std::min<uint32_t>(extent, UINT16_MAX), UINT16_MAX);
  }
  return static_cast<uint32_t>(threads);
}

uint32_t LargestBlock(const LaunchLimits& limits, const KernelResources& kernel,
                      uint64_t dynamic_shared) {
  const auto use = UseOf(kernel, kWarp, dynamic_shared);
  if (!use || ByShared(limits, *use) == 0) return 0;
  const uint32_t compiled = CompiledThreads(kernel);
  const uint32_t largest = LargestBlock(limits, *kernel.registers);
  return compiled ? std::min(compiled, largest) : largest;
}

uint32_t BestBlock(const LaunchLimits& limits, const KernelResources& kernel,
                   uint64_t dynamic_shared) {
  const uint32_t largest = LargestBlock(limits, kernel, dynamic_shared);
  uint32_t best = 0;
  uint32_t best_warps = 0;
  for (uint32_t threads = std::min(kWarp, largest); threads != 0 && threads <= largest;
       threads += kWarp) {
    const uint32_t blocks = Least(BlocksBy(limits, *UseOf(kernel, threads, dynamic_shared)));
    const uint32_t warps = blocks * RoundUpWarps(threads);
    if (warps <= best_warps) continue;
    best_warps = warps;
    best = threads;
  }
  return best;
}

}  // namespace cuproof
