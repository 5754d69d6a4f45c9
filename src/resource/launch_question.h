#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "image/image.h"
#include "resource/occupancy.h"

namespace cuproof {

/// How a kernel is launched, as far as it was asked for.
struct LaunchQuestion {
  uint32_t block = 0;  // threads; 0: not said
  uint64_t dynamic_shared = 0;
};

/// Where the size of a block comes from.
enum class BlockBasis : uint8_t {
  kAsked,
  kRequired,  // the kernel runs in blocks of that size only (.reqntid)
  kBounds,    // the largest that it was compiled for (__launch_bounds__)
  kBest,      // the kernel does not say: the smallest one with its highest occupancy
};
/// "asked", "required", "launch bounds", "best".
const char* BlockBasisName(BlockBasis basis);

/// The occupancy of a kernel on one GPU.
struct LaunchAnswer {
  uint32_t sm = 0;
  uint32_t block = 0;  // threads; 0: none launches
  BlockBasis basis = BlockBasis::kBest;
  uint64_t dynamic_shared = 0;
  Occupancy occupancy;
  uint32_t sm_warps = 0;  // that a multiprocessor could hold
  uint32_t largest_block = 0;
};

/// No value: the tables do not know the GPU, or the cubin does not tell the registers.
std::optional<LaunchAnswer> AnswerLaunch(const KernelResources& kernel, uint32_t sm,
                                         const LaunchQuestion& question);

/// The capabilities of the tables that run code for `arch`, its own first.
std::vector<uint32_t> CapabilitiesFor(Arch arch);

}  // namespace cuproof
