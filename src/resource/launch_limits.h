#pragma once
#include <cstdint>
#include <optional>

namespace cuproof {

/// What one block, and all blocks of a multiprocessor, may take on a GPU: a row of
/// launch_limits.tsv.
struct LaunchLimits {
  uint32_t registers = 0;      // of a multiprocessor, and of one block
  uint32_t partitions = 0;     // that the register file is cut into
  uint32_t register_unit = 0;  // registers go to a warp in steps of this
  uint32_t threads = 0;
  uint32_t shared_default = 0;  // bytes, without opt-in
  uint32_t shared_optin = 0;
  uint32_t sm_blocks = 0;  // sm_: of a multiprocessor
  uint32_t sm_threads = 0;
  uint32_t sm_shared = 0;
  uint32_t shared_unit = 0;      // bytes
  uint32_t shared_reserved = 0;  // bytes of each block that the system takes
  uint32_t sm_barriers = 0;      // 0: no limit, here and below
  uint32_t sm_virtual = 0;
};

/// No value: the tables do not know this compute capability.
std::optional<LaunchLimits> LaunchLimitsOf(uint32_t sm);

/// Grids and blocks of every GPU from sm_30 on (CUDA programming guide, technical specifications).
inline constexpr uint32_t kMaxGrid[3] = {2147483647, 65535, 65535};
inline constexpr uint32_t kMaxBlock[3] = {1024, 1024, 64};

/// Registers that a warp takes: 32 times those of a thread, in whole units.
uint64_t RegistersOfWarp(const LaunchLimits& limits, uint64_t registers);

/// Registers that a block takes: its warps are dealt to the partitions, which each must hold
/// theirs. The measure is the fullest partition, times their number.
uint64_t RegistersOfBlock(const LaunchLimits& limits, uint64_t registers, uint64_t threads);

/// The largest block, in threads, that a kernel of so many registers can be launched with; 0: none.
uint32_t LargestBlock(const LaunchLimits& limits, uint64_t registers);

/// The most registers a thread may have in a block of so many threads, at most 255; 0: no number of
/// registers lets such a block launch.
uint32_t RegisterCap(const LaunchLimits& limits, uint64_t threads);

}  // namespace cuproof
