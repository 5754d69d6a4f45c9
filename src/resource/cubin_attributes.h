#pragma once
#include <cstdint>

#include "bytes/view.h"

// The items of .nv.info sections: docs/formats.md.
namespace cuproof {

enum class Attribute : uint8_t {
  kMaxThreads = 0x05,
  kParameterBank = 0x0A,
  kRequiredThreads = 0x10,
  kFrameSize = 0x11,
  kMinStackSize = 0x12,
  kParameter = 0x17,
  kParameterBytes = 0x19,
  kRegisterLimit = 0x1B,
  kCallStack = 0x1E,  // of functions that call others
  kRegCount = 0x2F,
  kToolkit = 0x37,
  kCluster = 0x3D,
  kMaxClusterRank = 0x3F,
  kParameterV2 = 0x45,
  kVirtualResources = 0x4A,
  kBarriers = 0x4C,
  kAnnotations = 0x55,
};

inline constexpr uint32_t kInfoSection = 0x70000000;  // sh_type of .nv.info and .nv.info.NAME

/// Calls visit(id, value, payload) for each item {u8 format, u8 id, u16}: formats 1 to 3 carry the
/// value, 4 a payload of that size. False where the section has anything else, or is cut: what
/// stood behind it is not known.
template <typename Visit>
bool ForEachAttribute(ByteView section, Visit visit) {
  uint64_t at = 0;
  while (at < section.size()) {
    const auto format = section.Load<uint8_t>(at);
    const auto id = section.Load<uint8_t>(at + 1);
    const auto value = section.Load<uint16_t>(at + 2);
    if (!id || !value || *format == 0 || *format > 4) return false;
    const auto payload = section.Slice(at + 4, *format == 4 ? *value : 0);
    if (!payload) return false;
    visit(static_cast<Attribute>(*id), *value, *payload);
    at += 4 + payload->size();
  }
  return true;
}

}  // namespace cuproof
