#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "resource/launch_question.h"

namespace cuproof {

/// What a number of registers would make of a kernel at the same block.
struct RegisterStep {
  uint32_t registers = 0;
  uint32_t blocks = 0;  // on a multiprocessor; 0: the block does not launch any more
  uint32_t warps = 0;
};

/// Numbers that tell what a change would bring.
struct Advice {
  LaunchAnswer now;
  std::optional<RegisterStep> gain;  // the most registers with more blocks than now
  std::optional<RegisterStep> loss;  // the fewest registers with fewer blocks than now
  uint32_t register_cap = 0;         // the most registers that let a block of this size launch
  uint64_t shared_default = 0;       // bytes of dynamic shared memory left without opt-in
  uint64_t shared_optin = 0;         // and with it
  // Bytes of dynamic shared memory more before fewer blocks fit; no value: none launches now.
  std::optional<uint64_t> shared_to_spare;
  uint64_t stack_of_sm = 0;  // bytes of local memory for the threads that one holds
};

/// Multiprocessors of a product of gpus.tsv; 0: the tables do not say.
uint32_t MultiprocessorsOf(std::string_view product);

/// No value: as AnswerLaunch.
std::optional<Advice> AdviceFor(const KernelResources& kernel, uint32_t sm,
                                const LaunchQuestion& question);

}  // namespace cuproof
