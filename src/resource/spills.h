#pragma once
#include <optional>
#include <vector>

#include "image/image.h"
#include "resource/calls.h"
#include "resource/kernel_resources.h"

namespace cuproof {

/// Where annotated instructions stand in the code of a kernel: offsets from its start.
using SpillOffsets = std::vector<uint32_t>;

/// What a toolkit's ptxas says of spills in a cubin: a row of spill_annotations.tsv, or what
/// follows from its neighbours.
enum class SpillAnnotations : uint8_t {
  kNone,      // or not known
  kWritten,   // not compared with that ptxas
  kCompared,  // the sums are those of `ptxas -v`
};
SpillAnnotations SpillAnnotationsOf(Version toolkit);

/// The bytes that a kernel spills itself, as `ptxas -v` counts them, and those of the device
/// functions in its section.
struct SpillsOfCode {
  Spills own;
  Spills functions;
};

/// `functions` by their start. No value: an offset leads to no access to local memory, or the
/// instructions of this architecture are not known.
std::optional<SpillsOfCode> CountSpills(ByteView code, uint32_t sm, Version toolkit,
                                        const SpillOffsets& annotated,
                                        const std::vector<InnerFunction>& functions);

}  // namespace cuproof
