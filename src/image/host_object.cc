#include "image/host_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "image/ar.h"
#include "image/cubin.h"
#include "image/fatbin_format.h"
#include "image/host_elf.h"
#include "image/host_pe.h"
#include "image/ptx.h"

namespace cuproof {

const char* FileKindName(FileKind kind) {
  switch (kind) {
    case FileKind::kElf:
      return "ELF";
    case FileKind::kPe:
      return "PE";
    case FileKind::kArchive:
      return "archive";
    case FileKind::kFatbin:
      return "fatbin";
    case FileKind::kCubin:
      return "cubin";
    case FileKind::kCoreDump:
      return "GPU core dump";
    case FileKind::kPtx:
      return "PTX";
    case FileKind::kZip:
      return "zip";
    case FileKind::kData:
      break;
  }
  return "data";
}

FileKind DetectFileKind(ByteView bytes) {
  if (LooksLikeCubin(bytes)) {
    constexpr uint16_t kCore = 4;
    return bytes.Load<uint16_t>(16) == kCore ? FileKind::kCoreDump : FileKind::kCubin;
  }
  if (bytes.StartsWith("\x7F"
                       "ELF")) {
    return FileKind::kElf;
  }
  if (bytes.StartsWith("MZ")) return FileKind::kPe;
  if (bytes.StartsWith("!<arch>\n") || bytes.StartsWith("!<thin>\n")) return FileKind::kArchive;
  if (bytes.Load<uint32_t>(0) == fatbin::kMagic) return FileKind::kFatbin;
  if (bytes.StartsWith("PK\x03\x04") || bytes.StartsWith("PK\x05\x06")) return FileKind::kZip;
  if (LooksLikePtx(bytes)) return FileKind::kPtx;
  return FileKind::kData;
}

HostObject ReadHostObject(FileKind kind, ByteView bytes) {
  HostObject host;
  if (kind == FileKind::kElf) host = ReadHostElf(bytes);
  if (kind == FileKind::kPe) host = ReadHostPe(bytes);
  if (kind == FileKind::kArchive) host = ReadArchive(bytes);
  // Hostile tables can name the same bytes many times; a hit has one place, so the first range
  // wins.
  std::stable_sort(host.ranges.begin(), host.ranges.end(),
                   [](const NamedRange& a, const NamedRange& b) { return a.offset < b.offset; });
  std::vector<NamedRange> kept;
  for (NamedRange& range : host.ranges) {
    const uint64_t end = kept.empty() ? 0 : kept.back().offset + kept.back().size;
    if (range.size > 0 && range.offset >= end) kept.push_back(std::move(range));
  }
  host.ranges = std::move(kept);
  return host;
}

const std::string& RangeAt(const std::vector<NamedRange>& ranges, uint64_t offset) {
  static const std::string kNone;
  auto after = std::upper_bound(
      ranges.begin(), ranges.end(), offset,
      [](uint64_t value, const NamedRange& range) { return value < range.offset; });
  if (after == ranges.begin()) return kNone;
  const NamedRange& range = *std::prev(after);
  return offset - range.offset < range.size ? range.name : kNone;
}

uint16_t NeededRuntimeMajor(const HostObject& host) {
  constexpr std::string_view kPrefix = "libcudart.so.";
  for (const std::string& name : host.needed) {
    if (name.compare(0, kPrefix.size(), kPrefix) != 0) continue;
    uint16_t major = 0;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), major);
    if (major) return major;
  }
  return 0;
}

}  // namespace cuproof
