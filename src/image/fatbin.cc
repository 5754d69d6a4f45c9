#include "image/fatbin.h"

#include <fmt/format.h>

#include <algorithm>

#include "image/fatbin_format.h"

namespace cuproof {
namespace {

constexpr uint8_t kMagicBytes[] = {0x50, 0xED, 0x55, 0xBA, 0x01, 0x00};

Compression CompressionOf(uint64_t flags) {
  if (flags & fatbin::kFlagZstd) return Compression::kZstd;
  if (flags & fatbin::kFlagLz4Block) return Compression::kLz4Block;
  if (flags & fatbin::kFlagLz4Frame) return Compression::kLz4Frame;
  return Compression::kNone;
}

// A kind that we do not know is told by the first bytes of a plain payload.
ImageKind SniffKind(ByteView payload) {
  if (payload.StartsWith("\x7F"
                         "ELF")) {
    return ImageKind::kCubin;
  }
  if (payload.StartsWith("\x7FTileIR")) return ImageKind::kTileIr;
  if (payload.StartsWith("\xED\x43\x4E\x7F")) return ImageKind::kLtoIr;
  return ImageKind::kUnknown;
}

ImageKind KindOf(uint16_t raw_kind, Compression compression, ByteView payload) {
  switch (raw_kind) {
    case fatbin::kKindPtx:
      return ImageKind::kPtx;
    case fatbin::kKindCubin:
      return ImageKind::kCubin;
    case fatbin::kKindLtoIr:
      return ImageKind::kLtoIr;
    case fatbin::kKindTileIr:
      return ImageKind::kTileIr;
    default:
      return compression == Compression::kNone ? SniffKind(payload) : ImageKind::kUnknown;
  }
}

std::string TrimmedText(ByteView text) {
  std::string_view view = text.CString(0);
  while (!view.empty() && view.back() == ' ') view.remove_suffix(1);
  while (!view.empty() && view.front() == ' ') view.remove_prefix(1);
  return std::string(view.substr(0, 4096));
}

struct EntryRead {
  Image image;
  uint64_t size;  // header and padded payload
};

Error Damaged(uint64_t offset, std::string phrase) {
  return {ErrorCode::kBadSize, std::move(phrase), "", offset};
}

// `room` is what is left of the container behind `offset`.
Result<EntryRead> ReadEntry(ByteView bytes, uint64_t offset, uint64_t room) {
  const auto entry = bytes.Load<fatbin::Entry>(offset);
  if (!entry || room < sizeof(fatbin::Entry)) {
    return Damaged(offset, fmt::format("expected an entry header of {} bytes, {} are left",
                                       sizeof(fatbin::Entry), room));
  }
  if (entry->header_size < sizeof(fatbin::Entry) || entry->header_size > room) {
    return Damaged(offset, fmt::format("the entry header says it has {} bytes; expected {} to {}",
                                       entry->header_size, sizeof(fatbin::Entry), room));
  }
  if (entry->payload_size > room - entry->header_size) {
    return Damaged(offset, fmt::format("the entry says its image has {} bytes, {} are left",
                                       entry->payload_size, room - entry->header_size));
  }
  EntryRead read;
  read.size = entry->header_size + entry->payload_size;
  Image& image = read.image;
  image.raw_kind = entry->kind;
  image.arch.number = entry->arch;
  image.arch.suffix = entry->flags & fatbin::kFlagSuffixA   ? 'a'
                      : entry->flags & fatbin::kFlagSuffixF ? 'f'
                                                            : char{0};
  image.version = {entry->major, entry->minor};
  image.compression = CompressionOf(entry->flags);
  image.masked = (entry->flags & fatbin::kFlagMasked) != 0;
  image.flags = entry->flags;
  image.offset = offset;
  image.payload = offset + entry->header_size;
  image.padded_size = read.size;
  const bool plain = image.compression == Compression::kNone;
  image.stored_size = plain || entry->stored_size == 0 ? entry->payload_size : entry->stored_size;
  image.raw_size = plain ? entry->payload_size : entry->raw_size;
  if (image.stored_size > entry->payload_size) {
    image.damage =
        Damaged(offset, fmt::format("the entry says {} compressed bytes in an image of {}",
                                    image.stored_size, entry->payload_size));
    image.stored_size = entry->payload_size;
  }
  image.kind =
      KindOf(entry->kind, image.compression, bytes.Clamp(image.payload, image.stored_size));
  const ByteView header = bytes.Clamp(offset, entry->header_size);
  if (entry->identifier_at) {
    if (const auto text = header.Slice(entry->identifier_at, entry->identifier_size)) {
      image.identifier = TrimmedText(*text);
    }
  }
  // A cubin's option record holds a copy of its .nv.compat section, not text.
  if (const auto record = header.Load<fatbin::OptionRecord>(entry->options_at);
      entry->options_at && record && image.kind != ImageKind::kCubin) {
    if (const auto text = header.Slice(record->at, record->size))
      image.options = TrimmedText(*text);
  }
  image.relocatable = image.options.find("--compile-only") != std::string::npos;
  return read;
}

// Code that writes containers holds the first eight bytes of a header as an immediate, as the
// fatbinary of every toolkit does. There no entry follows, and the "size" behind it is more code.
bool EntryFollows(ByteView bytes, uint64_t offset, const fatbin::Header& header) {
  constexpr uint32_t kLongestHeader = 1 << 16;
  const auto entry = bytes.Load<fatbin::Entry>(offset + header.header_size);
  // A file that is cut before it can tell.
  if (!entry) return header.header_size == sizeof(fatbin::Header);
  return entry->kind != 0 && entry->version >> 8 == 1 &&
         entry->header_size >= sizeof(fatbin::Entry) && entry->header_size < kLongestHeader;
}

}  // namespace

std::optional<uint64_t> FindFatbin(ByteView bytes, uint64_t from) {
  // A block is rejected by a loop that compilers turn into vector code; the two bytes that it looks
  // for occur together by chance once in 64 KB.
  constexpr uint64_t kBlock = 256;
  const uint8_t* data = bytes.data();
  const uint64_t size = bytes.size();
  uint64_t at = from;
  while (at < size && size - at >= sizeof(fatbin::Header)) {
    const uint64_t count = std::min(kBlock, size - at - sizeof(kMagicBytes) + 1);
    if (count == kBlock) {
      uint8_t hit = 0;
      for (uint64_t i = 0; i < kBlock; ++i) {
        hit = static_cast<uint8_t>(
            hit | ((data[at + i] == kMagicBytes[0]) & (data[at + i + 1] == kMagicBytes[1])));
      }
      if (!hit) {
        at += kBlock;
        continue;
      }
    }
    for (uint64_t i = 0; i < count; ++i) {
      if (std::memcmp(data + at + i, kMagicBytes, sizeof(kMagicBytes)) == 0) return at + i;
    }
    at += count;
  }
  return std::nullopt;
}

std::optional<FatbinContainer> ReadFatbin(ByteView bytes, uint64_t offset) {
  const auto header = bytes.Load<fatbin::Header>(offset);
  if (!header || header->magic != fatbin::kMagic || header->version != 1 ||
      header->header_size < sizeof(fatbin::Header)) {
    return std::nullopt;
  }
  FatbinContainer container;
  container.size = header->header_size;
  const uint64_t available = bytes.size() - offset;
  const bool fits =
      header->header_size <= available && header->body_size <= available - header->header_size;
  const bool sound_size = fits && header->body_size % 8 == 0;
  if (offset != 0 && !sound_size && !EntryFollows(bytes, offset, *header)) {
    return std::nullopt;
  }
  if (!fits) {
    container.damage = Damaged(
        offset, fmt::format("the container says {} bytes follow its header, the file has {}; it is "
                            "cut short or not whole",
                            header->body_size,
                            available - std::min<uint64_t>(available, header->header_size)));
    container.damage->code = ErrorCode::kTruncated;
  }
  container.size = std::min<uint64_t>(container.size, available);
  uint64_t at = offset + container.size;
  uint64_t room = std::min(header->body_size, available - container.size);
  while (room > 0) {
    if (container.images.size() >= kMaxEntries) {
      container.damage =
          Error{ErrorCode::kTooLarge,
                fmt::format("more than {} images in one container", kMaxEntries), "", at};
      break;
    }
    auto read = ReadEntry(bytes, at, room);
    if (!read) {
      if (!container.damage) container.damage = read.error();
      break;
    }
    at += read->size;
    room -= read->size;
    container.images.push_back(std::move(read->image));
  }
  container.size = at - offset;
  return container;
}

}  // namespace cuproof
