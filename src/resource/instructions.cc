#include "resource/instructions.h"

namespace cuproof {
namespace {

constexpr uint32_t kFirstWide = 70;  // from here on instructions have 16 bytes
constexpr uint32_t kFirstMaxwell = 50;
constexpr uint32_t kWidth[8] = {1, 1, 2, 2, 4, 8, 16, 0};

constexpr uint64_t kStoreLocal = 0x387;
constexpr uint64_t kStoreLocal107 = 0x987;  // also, of sm_107
constexpr uint64_t kLoadLocal = 0x983;
constexpr uint64_t kCallRelative = 0x944;
constexpr uint64_t kCallAbsolute = 0x943;
constexpr uint64_t kCallRegisterRelative = 0x344;
constexpr uint64_t kCallRegisterAbsolute = 0x343;

std::optional<LocalAccess> WideLocalAccess(uint32_t sm, uint64_t low, uint64_t high) {
  const uint64_t opcode = low & 0xFFF;
  const bool store = opcode == kStoreLocal || (opcode == kStoreLocal107 && sm >= 107 && sm < 110);
  if (!store && opcode != kLoadLocal) return std::nullopt;
  const uint32_t bytes = kWidth[high >> 9 & 7];
  if (bytes == 0) return std::nullopt;
  return LocalAccess{store, bytes};
}

// Of each four words the first schedules the other three.
std::optional<LocalAccess> NarrowLocalAccess(uint64_t offset, uint64_t word) {
  constexpr uint64_t kOpcode = 0xFFF8'0000'0000'0000;
  constexpr uint64_t kStore = 0xEF50'0000'0000'0000;
  constexpr uint64_t kLoad = 0xEF40'0000'0000'0000;
  if (offset % 32 == 0) return std::nullopt;
  const uint64_t opcode = word & kOpcode;
  if (opcode != kStore && opcode != kLoad) return std::nullopt;
  const uint32_t bytes = kWidth[word >> 48 & 7];
  if (bytes == 0) return std::nullopt;
  return LocalAccess{opcode == kStore, bytes};
}

// Bits 34 to 81 count from the next instruction; from sm_90 on in steps of 1,024 bytes, with the
// steps of 4 bytes in bits 16 to 23.
uint64_t RelativeTarget(uint32_t sm, uint64_t offset, uint64_t low, uint64_t high) {
  const uint64_t field = low >> 34 | (high & 0x3FFFF) << 30;
  const uint64_t sign = field >> 47 & 1 ? ~uint64_t{0} << 48 : 0;
  const uint64_t value = field | sign;
  const uint64_t steps = sm >= 90 ? value << 8 | (low >> 16 & 0xFF) : value;
  return offset + 16 + steps * 4;
}

}  // namespace

bool KnowsInstructions(uint32_t sm) { return sm >= kFirstMaxwell; }

uint64_t InstructionSize(uint32_t sm) { return sm >= kFirstWide ? 16 : 8; }

std::optional<LocalAccess> LocalAccessAt(ByteView code, uint32_t sm, uint64_t offset) {
  const uint64_t size = InstructionSize(sm);
  if (!KnowsInstructions(sm) || offset % size != 0) return std::nullopt;
  const auto low = code.Load<uint64_t>(offset);
  if (!low) return std::nullopt;
  if (size == 8) return NarrowLocalAccess(offset, *low);
  const auto high = code.Load<uint64_t>(offset + 8);
  if (!high) return std::nullopt;
  return WideLocalAccess(sm, *low, *high);
}

std::optional<Call> CallAt(ByteView code, uint32_t sm, uint64_t offset) {
  if (sm < kFirstWide) return std::nullopt;
  const auto low = code.Load<uint64_t>(offset);
  const auto high = code.Load<uint64_t>(offset + 8);
  if (!low || !high) return std::nullopt;
  switch (*low & 0xFFF) {
    case kCallRegisterRelative:
    case kCallRegisterAbsolute:
      return Call{true, std::nullopt};
    case kCallRelative:
      return Call{false, RelativeTarget(sm, offset, *low, *high)};
    case kCallAbsolute:
      return Call{false, std::nullopt};
    default:
      return std::nullopt;
  }
}

}  // namespace cuproof
