#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bytes/result.h"
#include "bytes/view.h"

namespace cuproof {

/// What a cubin says about one kernel (or device function) that has a section of its own. Where
/// each number stands: docs/formats.md, checked against `ptxas -v`.
struct KernelRegisters {
  std::string name;                   // mangled
  std::optional<uint32_t> registers;  // of a thread
  uint32_t static_shared = 0;         // bytes of a block, without what the system reserves
  std::optional<std::array<uint32_t, 3>> max_threads;  // .maxntid or .reqntid of a block
};

/// Reads every `.text.NAME` of the cubin at the start of `bytes`. Attributes that are damaged are
/// left out: such a kernel has no number, never a wrong one.
Result<std::vector<KernelRegisters>> ReadKernelRegisters(ByteView bytes);

}  // namespace cuproof
