#pragma once
#include <cstdint>

// The fatbin container as it lies in a file. NVIDIA publishes no description of it; these layouts
// were checked on 29,615 containers with 42,298 entries of CUDA 13.0 libraries and on third-party
// builds of CUDA 11.5 to 13.1 (docs/formats.md). All fields are little-endian, and a container has
// no alignment, so fields are loaded by memcpy.
namespace cuproof::fatbin {

inline constexpr uint32_t kMagic = 0xBA55ED50;

struct Header {
  uint32_t magic;
  uint16_t version;      // 1
  uint16_t header_size;  // 16
  uint64_t body_size;    // bytes after the header; the last entry ends exactly there
};
static_assert(sizeof(Header) == 16);

struct Entry {
  uint16_t kind;
  uint16_t version;       // 0x0101
  uint32_t header_size;   // 64 bare; identifier and options follow in steps of 8
  uint64_t payload_size;  // padded to 8
  uint32_t stored_size;   // compressed bytes; 0 when stored plain
  uint32_t options_at;    // in the entry; 0 when there are none
  uint16_t minor;
  uint16_t major;
  uint32_t arch;
  uint32_t identifier_at;
  uint32_t identifier_size;
  uint64_t flags;
  uint32_t mask_seed;  // of masked LTO-IR
  uint32_t zero;
  uint64_t raw_size;  // 0 when stored plain
};
static_assert(sizeof(Entry) == 64);

// The option record: where the text is, relative to the entry.
struct OptionRecord {
  uint32_t at;
  uint32_t size;
};

inline constexpr uint16_t kKindPtx = 1;
inline constexpr uint16_t kKindCubin = 2;
inline constexpr uint16_t kKindLtoIr = 8;
inline constexpr uint16_t kKindTileIr = 0x80;  // fatbinary of CUDA 13.1 and later

inline constexpr uint64_t kFlagLz4Block = 0x2000;
inline constexpr uint64_t kFlagLz4Frame = 0x4000;
inline constexpr uint64_t kFlagZstd = 0x8000;
inline constexpr uint64_t kFlagMasked = 0x10000;
inline constexpr uint64_t kFlagSuffixA = 0x100000;
inline constexpr uint64_t kFlagSuffixF = 0x200000;

}  // namespace cuproof::fatbin
