#include "container/zip_names.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace cuproof {
namespace {

using namespace std::string_view_literals;

struct Entry {
  std::string_view name;
  std::string_view extra;
  uint64_t size;  // of the whole entry
};

// PKWARE APPNOTE.TXT 6.3.10, 4.3.12.
std::optional<Entry> ReadEntry(ByteView directory, uint64_t at) {
  constexpr uint64_t kFixed = 46;
  const auto fixed = directory.Slice(at, kFixed);
  if (!fixed || !fixed->StartsWith("PK\x01\x02"sv)) return std::nullopt;
  const uint64_t name = *fixed->Load<uint16_t>(28);
  const uint64_t extra = *fixed->Load<uint16_t>(30);
  const uint64_t comment = *fixed->Load<uint16_t>(32);
  const auto entry = directory.Slice(at, kFixed + name + extra + comment);
  if (!entry) return std::nullopt;
  return Entry{entry->Clamp(kFixed, name).Text(), entry->Clamp(kFixed + name, extra).Text(),
               entry->size()};
}

// The number of bytes that must follow a first byte of UTF-8; none for other bytes.
std::optional<size_t> FollowingBytes(uint8_t first) {
  if (first >= 32 && first < 128) return 0;
  if ((first & 0xE0) == 0xC0) return 1;
  if ((first & 0xF0) == 0xE0) return 2;
  if ((first & 0xF8) == 0xF0) return 3;
  return std::nullopt;
}

// libzip hashes a name as stored if it takes it for UTF-8 (lib/zip_utf-8.c), else what it becomes
// when read as code page 437 or replaced by the name in extra field 0x7075.
bool HashedAsStored(const Entry& entry) {
  if (entry.extra.find("up") != entry.extra.npos) return false;
  for (size_t i = 0; i < entry.name.size(); ++i) {
    const auto following = FollowingBytes(static_cast<uint8_t>(entry.name[i]));
    if (!following || *following >= entry.name.size() - i) return false;
    for (size_t left = *following; left > 0; --left) {
      if ((static_cast<uint8_t>(entry.name[++i]) & 0xC0) != 0x80) return false;
    }
  }
  return true;
}

// lib/zip_hash.c of libzip 1.7.3.
uint32_t Hash(std::string_view name) {
  uint32_t value = 5381;
  for (const char c : name) value = value * 33 + static_cast<uint8_t>(c);
  return value;
}

}  // namespace

bool NamesCollide(ByteView directory) {
  std::vector<uint32_t> hashes;
  uint64_t at = 0;
  while (const auto entry = ReadEntry(directory, at)) {
    // Names whose hash is not known here count as if they all collided.
    hashes.push_back(HashedAsStored(*entry) ? Hash(entry->name) : 0);
    at += entry->size;
  }
  const uint64_t buckets = std::bit_ceil(std::max<uint64_t>(hashes.size() * 4 / 3, 256));
  std::vector<uint32_t> in_bucket(buckets);
  uint64_t steps = 0;  // along chains, to put in all names
  for (const uint32_t hash : hashes) steps += in_bucket[hash % buckets]++;
  // Honest names need less than one step each; 32 million take a tenth of a second.
  return steps > (32u << 20);
}

}  // namespace cuproof
