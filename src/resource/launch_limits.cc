#include "resource/launch_limits.h"

#include <algorithm>

#include "target/table.h"

namespace cuproof {
namespace {

constexpr uint32_t kWarp = 32;
constexpr uint32_t kMostRegisters = 255;  // that an instruction can name

uint64_t WarpsOfPartition(const LaunchLimits& limits, uint64_t threads) {
  const uint64_t warps = (threads + kWarp - 1) / kWarp;
  return (warps + limits.partitions - 1) / limits.partitions;
}

}  // namespace

std::optional<LaunchLimits> LaunchLimitsOf(uint32_t sm) {
  const Table& table = Table::Get("launch_limits");
  for (size_t i = 0; i < table.size(); ++i) {
    if (ParseNumber(table.At(i, "sm")) != sm || sm == 0) continue;
    LaunchLimits limits;
    limits.registers = ParseNumber(table.At(i, "registers"));
    limits.partitions = ParseNumber(table.At(i, "partitions"));
    limits.register_unit = ParseNumber(table.At(i, "register_unit"));
    limits.threads = ParseNumber(table.At(i, "threads"));
    limits.shared_default = ParseNumber(table.At(i, "shared_default"));
    limits.shared_optin = ParseNumber(table.At(i, "shared_optin"));
    limits.sm_blocks = ParseNumber(table.At(i, "blocks_sm"));
    limits.sm_threads = ParseNumber(table.At(i, "threads_sm"));
    limits.sm_shared = ParseNumber(table.At(i, "shared_sm"));
    limits.shared_unit = ParseNumber(table.At(i, "shared_unit"));
    limits.shared_reserved = ParseNumber(table.At(i, "shared_reserved"));
    limits.sm_barriers = ParseNumber(table.At(i, "barriers_sm"));
    limits.sm_virtual = ParseNumber(table.At(i, "virtual_sm"));
    if (!limits.registers || !limits.partitions || !limits.register_unit) return std::nullopt;
    return limits;
  }
  return std::nullopt;
}

uint64_t RegistersOfWarp(const LaunchLimits& limits, uint64_t registers) {
  const uint64_t unit = limits.register_unit;
  return (registers * kWarp + unit - 1) / unit * unit;
}

uint64_t RegistersOfBlock(const LaunchLimits& limits, uint64_t registers, uint64_t threads) {
  return RegistersOfWarp(limits, registers) * WarpsOfPartition(limits, threads) * limits.partitions;
}

uint32_t LargestBlock(const LaunchLimits& limits, uint64_t registers) {
  const uint64_t warp = RegistersOfWarp(limits, registers);
  if (warp == 0) return limits.threads;
  const uint64_t warps = limits.registers / limits.partitions / warp * limits.partitions;
  return static_cast<uint32_t>(std::min<uint64_t>(warps * kWarp, limits.threads));
}

uint32_t RegisterCap(const LaunchLimits& limits, uint64_t threads) {
  const uint64_t warps = WarpsOfPartition(limits, threads);
  if (warps == 0 || threads > limits.threads) return 0;
  const uint64_t of_warp = limits.registers / limits.partitions / warps;
  const uint64_t cap = of_warp / limits.register_unit * limits.register_unit / kWarp;
  return static_cast<uint32_t>(std::min<uint64_t>(cap, kMostRegisters));
}

}  // namespace cuproof
