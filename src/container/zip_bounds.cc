#include "container/zip_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "container/zip_names.h"

namespace cuproof {
namespace {

using namespace std::string_view_literals;

// Field places: PKWARE APPNOTE.TXT 6.3.10, 4.3.14 to 4.3.16.
constexpr std::string_view kEndMagic = "PK\x05\x06"sv;
constexpr std::string_view kEnd64Magic = "PK\x06\x06"sv;
constexpr std::string_view kLocatorMagic = "PK\x06\x07"sv;
constexpr uint64_t kEndSize = 22;
constexpr uint64_t kLocatorSize = 20;
constexpr uint64_t kMaxComment = 65535;
// A zip has one end record. A stored zip as last member, or a comment, can add more.
constexpr uint64_t kMaxEndRecords = 64;

/// What an end record says of the central directory.
struct EndRecord {
  uint64_t entries = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
};

std::optional<EndRecord> ReadEnd64(ByteView bytes, uint64_t end_at) {
  if (end_at < kLocatorSize) return std::nullopt;
  const ByteView locator = bytes.Clamp(end_at - kLocatorSize, kLocatorSize);
  const auto at = locator.Load<uint64_t>(8);
  if (!locator.StartsWith(kLocatorMagic) || !at) return std::nullopt;
  const auto end = bytes.Slice(*at, 56);
  if (!end || !end->StartsWith(kEnd64Magic)) return std::nullopt;
  return EndRecord{*end->Load<uint64_t>(32), *end->Load<uint64_t>(48), *end->Load<uint64_t>(40)};
}

std::optional<EndRecord> ReadEnd(ByteView bytes, uint64_t at) {
  if (auto end64 = ReadEnd64(bytes, at)) return end64;
  const auto end = bytes.Slice(at, kEndSize);
  if (!end) return std::nullopt;
  return EndRecord{*end->Load<uint16_t>(10), *end->Load<uint32_t>(16), *end->Load<uint32_t>(12)};
}

Error TooLarge(std::string phrase) {
  return {ErrorCode::kTooLarge, std::move(phrase), "", std::nullopt};
}

std::optional<Error> CheckDirectory(ByteView bytes, const EndRecord& end) {
  if (end.entries > kMaxZipEntries) {
    return TooLarge(
        fmt::format("zip that claims {} members, more than {}", end.entries, kMaxZipEntries));
  }
  const auto directory = bytes.Slice(end.offset, end.size);
  if (!directory || !NamesCollide(*directory)) return std::nullopt;
  return TooLarge("zip with names chosen to make it slow to open: not looked into");
}

Error Unsupported(std::string phrase) {
  return {ErrorCode::kUnsupported, std::move(phrase), "", std::nullopt};
}

const char* MethodName(uint16_t method) {
  switch (method) {
    case ZIP_CM_SHRINK:
      return "shrink";
    case ZIP_CM_IMPLODE:
      return "implode";
    case ZIP_CM_DEFLATE64:
      return "deflate64";
    case ZIP_CM_BZIP2:
      return "bzip2";
    case ZIP_CM_LZMA:
      return "LZMA";
    case 93:  // APPNOTE 4.4.5; libzip 1.7 has no name for it
      return "zstd";
    case ZIP_CM_XZ:
      return "xz";
    case ZIP_CM_PPMD:
      return "PPMd";
    default:
      return "unknown";
  }
}

}  // namespace

std::optional<Error> CheckZipEnd(ByteView bytes) {
  const uint64_t tail_size = std::min(bytes.size(), kEndSize + kMaxComment);
  const uint64_t tail_at = bytes.size() - tail_size;
  const std::string_view tail = bytes.Clamp(tail_at, tail_size).Text();
  uint64_t records = 0;
  for (size_t at = tail.find(kEndMagic); at != tail.npos; at = tail.find(kEndMagic, at + 1)) {
    const auto end = ReadEnd(bytes, tail_at + at);
    if (!end) continue;
    if (++records > kMaxEndRecords) {
      return TooLarge(fmt::format("zip with more than {} end records", kMaxEndRecords));
    }
    if (auto error = CheckDirectory(bytes, *end)) return error;
  }
  if (records > 0) return std::nullopt;
  return Error{ErrorCode::kTruncated, "zip without a central directory: cut short", "",
               std::nullopt};
}

std::optional<Error> CheckMember(const ZipMember& member) {
  if (member.encrypted) return Unsupported("the member is encrypted");
  if (!zip_compression_method_supported(member.method, 0)) {
    return Unsupported(fmt::format("the member is compressed by method {} ({}), which is not read",
                                   member.method, MethodName(member.method)));
  }
  if (member.size > kMaxMember) {
    return TooLarge(fmt::format("the member claims {} bytes, more than {}: not expanded",
                                member.size, kMaxMember));
  }
  // Divided, not multiplied: both sizes are claims.
  if (member.size > kRatioCheckedAbove && member.size / kMaxMemberRatio > member.stored) {
    return TooLarge(
        fmt::format("the member claims to expand from {} to {} bytes, more than {}:1: "
                    "not expanded",
                    member.stored, member.size, kMaxMemberRatio));
  }
  return std::nullopt;
}

}  // namespace cuproof
