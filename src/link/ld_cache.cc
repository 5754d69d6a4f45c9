#include "link/ld_cache.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>

namespace cuproof {
namespace {

// Layout: sysdeps/generic/dl-cache.h of glibc describes it; read off the cache of Debian 12.
constexpr std::string_view kOldMagic = "ld.so-1.7.0";
constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr uint64_t kOldHeader = 16;  // magic, padding, u32 count
constexpr uint64_t kOldEntry = 12;
constexpr uint64_t kHeader = 48;  // magic, u32 count, u32 length of texts, flags, u32 extensions
constexpr uint64_t kEntry = 24;   // u32 flags, u32 name, u32 path, u32 unused, u64 hwcaps
constexpr uint64_t kMaxEntries = 1 << 20;
constexpr uint64_t kMaxText = 4096;
constexpr uint64_t kHwcapsBit = uint64_t{1} << 62;  // the low word is an index in the hwcaps list
constexpr uint32_t kExtensionMagic = 0xEAA42174;
constexpr uint32_t kHwcapsTag = 1;

// The texts of the extension that lists the folders below glibc-hwcaps/.
std::vector<std::string> ReadHwcaps(ByteView bytes, uint64_t at) {
  std::vector<std::string> names;
  if (at == 0 || bytes.Load<uint32_t>(at).value_or(0) != kExtensionMagic) return names;
  const uint64_t sections = std::min<uint64_t>(bytes.Load<uint32_t>(at + 4).value_or(0), 64);
  for (uint64_t i = 0; i < sections; ++i) {
    const uint64_t section = at + 8 + i * 16;  // u32 tag, flags, offset, size
    if (bytes.Load<uint32_t>(section) != kHwcapsTag) continue;
    const ByteView list = bytes.Clamp(bytes.Load<uint32_t>(section + 8).value_or(0),
                                      bytes.Load<uint32_t>(section + 12).value_or(0));
    for (uint64_t word = 0; word + 4 <= list.size() && names.size() < 1024; word += 4) {
      names.emplace_back(bytes.Clamp(*list.Load<uint32_t>(word), 256).CString(0));
    }
  }
  return names;
}

// Low byte 3: a library of libc6. The next byte is the machine (dl-cache.h, FLAG_X8664_LIB64 …).
bool FitsMachine(int32_t flags, uint16_t machine) {
  if ((flags & 0xFF) != 3) return false;
  switch (machine) {
    case EM_X86_64:
      return (flags & 0xFF00) == 0x0300;
    case EM_AARCH64:
      return (flags & 0xFF00) == 0x0A00;
    default:
      return true;
  }
}

}  // namespace

Result<LdCache> LdCache::Read(ByteView bytes) {
  if (bytes.StartsWith(kOldMagic)) {
    const uint64_t count = bytes.Load<uint32_t>(12).value_or(0);
    bytes = bytes.Clamp((kOldHeader + count * kOldEntry + 7) & ~uint64_t{7}, UINT64_MAX);
  }
  if (!bytes.StartsWith(kMagic)) {
    return Error{ErrorCode::kBadMagic, fmt::format("expected '{}'", kMagic), "", 0};
  }
  const auto count = bytes.Load<uint32_t>(20);
  const auto extensions = bytes.Load<uint32_t>(32);
  if (!extensions || !bytes.Holds(kHeader, uint64_t{*count} * kEntry) || *count > kMaxEntries) {
    return Error{
        ErrorCode::kTruncated,
        fmt::format("{} entries do not lie in the {} bytes", count.value_or(0), bytes.size()), "",
        20};
  }
  const std::vector<std::string> hwcaps = ReadHwcaps(bytes, *extensions);
  LdCache cache;
  cache.size_ = *count;
  for (uint64_t i = 0; i < *count; ++i) {
    const uint64_t at = kHeader + i * kEntry;
    const std::string_view name = bytes.Clamp(*bytes.Load<uint32_t>(at + 4), kMaxText).CString(0);
    Entry entry;
    entry.flags = *bytes.Load<int32_t>(at);
    entry.path = bytes.Clamp(*bytes.Load<uint32_t>(at + 8), kMaxText).CString(0);
    const auto wanted = *bytes.Load<uint64_t>(at + 16);
    if ((wanted & kHwcapsBit) != 0) {
      const uint64_t index = wanted & 0xFFFFFFFF;
      entry.hwcaps = index < hwcaps.size() ? hwcaps[index] : "unknown";
    } else if (wanted != 0) {
      // Folders such as "haswell", which glibc 2.37 no longer looks at.
      entry.hwcaps = "legacy";
    }
    if (!name.empty() && !entry.path.empty()) {
      cache.entries_[std::string(name)].push_back(std::move(entry));
    }
  }
  return cache;
}

std::vector<const LdCache::Entry*> LdCache::Find(std::string_view name, uint16_t machine,
                                                 const std::vector<std::string>& hwcaps) const {
  std::vector<const Entry*> found;
  const auto entries = entries_.find(std::string(name));
  if (entries == entries_.end()) return found;
  const auto take = [&](std::string_view wanted) {
    for (const Entry& entry : entries->second) {
      if (entry.hwcaps == wanted && FitsMachine(entry.flags, machine)) found.push_back(&entry);
    }
  };
  for (const std::string& better : hwcaps) take(better);
  take("");
  return found;
}

}  // namespace cuproof
