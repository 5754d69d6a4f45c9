#include "image/host_pe.h"

namespace cuproof {
namespace {

constexpr uint64_t kNewHeaderAt = 0x3C;
constexpr uint64_t kFileHeaderSize = 24;  // signature included
constexpr uint64_t kSectionSize = 40;
constexpr uint16_t kMachineAmd64 = 0x8664;
constexpr uint16_t kMachineArm64 = 0xAA64;

}  // namespace

HostObject ReadHostPe(ByteView bytes) {
  HostObject host;
  const uint64_t at = bytes.Load<uint32_t>(kNewHeaderAt).value_or(0);
  const auto signature = bytes.Load<uint32_t>(at);
  const auto machine = bytes.Load<uint16_t>(at + 4);
  const auto sections = bytes.Load<uint16_t>(at + 6);
  const auto optional_size = bytes.Load<uint16_t>(at + 20);
  if (!optional_size || signature != 0x00004550u) return host;  // a DOS program, or text with "MZ"
  host.machine = *machine == kMachineAmd64   ? "x86-64 Windows"
                 : *machine == kMachineArm64 ? "arm64 Windows"
                                             : "Windows";
  for (uint64_t i = 0; i < *sections; ++i) {
    const auto section =
        bytes.Slice(at + kFileHeaderSize + *optional_size + i * kSectionSize, kSectionSize);
    if (!section) break;
    const uint64_t size = *section->Load<uint32_t>(16);
    const uint64_t offset = *section->Load<uint32_t>(20);
    if (bytes.Holds(offset, size)) {
      host.ranges.push_back({offset, size, std::string(section->Clamp(0, 8).CString(0))});
    }
  }
  return host;
}

}  // namespace cuproof
