#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "resource/kernel_survey.h"
#include "resource/launch_question.h"

namespace cuproof {

/// One kernel on one GPU, for a table.
struct KernelLine {
  const KernelRow* row = nullptr;
  std::optional<LaunchAnswer> answer;  // no value: the tables do not know the GPU
  uint32_t copies = 1;                 // of the same kernel with the same numbers in the file
  uint32_t name_rank = 0;              // among the names of the file, in their order
};

/// What comes first in a table: the most of it, or the lowest occupancy.
enum class KernelOrder : uint8_t { kSpills, kRegisters, kShared, kStack, kOccupancy, kName };
/// "spills", "registers", "shared", "stack", "occupancy", "name".
std::optional<KernelOrder> ParseKernelOrder(std::string_view text);

/// The kernels of a file, without device functions: on the GPUs that were asked for, else on that
/// which each was built for. Copies are told as one line; what went into a device link is left out
/// where its outcome is there.
std::vector<KernelLine> KernelLines(const FileKernels& file, const LaunchQuestion& question,
                                    KernelOrder order);

/// Brings the kernels of each file into an order and leaves the first `top`; 0: all.
void ArrangeKernels(const LaunchQuestion& question, KernelOrder order, size_t top, Survey& survey);

/// Bytes of all spills; 0 where they are not known.
uint64_t SpillBytes(const KernelResources& kernel);

}  // namespace cuproof
