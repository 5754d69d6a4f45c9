#pragma once
#include <cstdint>
#include <optional>

#include "bytes/view.h"

// The few machine instructions that tell what a kernel uses. Opcodes and fields were read off code
// that ptxas made for each architecture: docs/formats.md.
namespace cuproof {

/// False: an architecture whose instructions are not known.
bool KnowsInstructions(uint32_t sm);

/// Bytes from one instruction to the next.
uint64_t InstructionSize(uint32_t sm);

struct LocalAccess {
  bool is_store = false;
  uint32_t bytes = 0;  // of a thread
};
/// The access to local memory (STL, LDL) at that offset. No value: it is another instruction.
std::optional<LocalAccess> LocalAccessAt(ByteView code, uint32_t sm, uint64_t offset);

struct Call {
  bool through_register = false;
  std::optional<uint64_t> target;  // offset in the same code, where the instruction tells it
};
/// By its first byte, so that most are passed over quickly.
inline bool MayBeCall(uint8_t first) { return first == 0x44 || first == 0x43; }
/// The call at that offset. No value: it is another instruction.
std::optional<Call> CallAt(ByteView code, uint32_t sm, uint64_t offset);

}  // namespace cuproof
