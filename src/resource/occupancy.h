#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "resource/kernel_resources.h"
#include "resource/launch_limits.h"

namespace cuproof {

/// What one block of a kernel takes.
struct BlockUse {
  uint32_t threads = 0;
  uint32_t registers = 0;  // of a thread
  uint64_t shared = 0;     // bytes, static and dynamic
  uint32_t barriers = 0;
  uint32_t virtual_resources = 0;
};

enum class Resource : uint8_t {
  kWarps,
  kBlocks,
  kRegisters,
  kShared,
  kBarriers,
  kVirtual,
  kCompiled
};
/// "warps", "blocks", "registers", "shared memory", "barriers", "tensor memory", "launch bounds".
const char* ResourceName(Resource resource);

/// How many blocks a multiprocessor holds at once.
struct Occupancy {
  uint32_t blocks = 0;  // 0: such a block does not launch
  uint32_t warps = 0;
  double fraction = 0;           // of the warps that it could hold
  std::vector<Resource> limits;  // all that let no further block in
};

/// As the toolkit's own calculator counts (tests/occupancy_test.py), with the driver's default
/// split of shared memory and L1 cache (as much shared memory as helps), and for a kernel whose
/// program has opted in to the dynamic shared memory that it asks for.
Occupancy OccupancyOf(const LaunchLimits& limits, const BlockUse& use);

/// The warps that a multiprocessor can hold.
uint32_t WarpsOf(const LaunchLimits& limits);

/// What a kernel takes in blocks of so many threads. No value: its registers are not known.
std::optional<BlockUse> UseOf(const KernelResources& kernel, uint32_t threads,
                              uint64_t dynamic_shared);

/// Threads of the block that a kernel was compiled for at most; 0: it does not say. Saturated.
uint32_t CompiledThreads(const KernelResources& kernel);

/// The largest block, in threads, that launches; 0: none does.
uint32_t LargestBlock(const LaunchLimits& limits, const KernelResources& kernel,
                      uint64_t dynamic_shared);

/// Of the blocks of whole warps that launch, the smallest one with the highest occupancy; 0: none.
uint32_t BestBlock(const LaunchLimits& limits, const KernelResources& kernel,
                   uint64_t dynamic_shared);

}  // namespace cuproof
