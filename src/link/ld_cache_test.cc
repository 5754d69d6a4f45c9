#include "link/ld_cache.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "build_fatbin.h"

namespace cuproof {
namespace {

using build::Number;
using testing::ElementsAre;
using testing::IsEmpty;

struct Row {
  std::string name;
  std::string path;
  uint32_t flags = 0x0303;
  uint64_t hwcap = 0;
};

std::string CacheBytes(const std::vector<Row>& rows, const std::vector<std::string>& hwcaps = {}) {
  const size_t entries_end = 48 + rows.size() * 24;
  std::string texts;
  const auto text = [&](const std::string& value) {
    const size_t at = entries_end + texts.size();
    texts += value + '\0';
    return at;
  };
  std::string entries;
  for (const Row& row : rows) {
    entries += Number(row.flags, 4) + Number(text(row.name), 4) + Number(text(row.path), 4) +
               Number(0, 4) + Number(row.hwcap, 8);
  }
  std::string list;
  for (const std::string& name : hwcaps) list += Number(text(name), 4);
  while (texts.size() % 4 != 0) texts += '\0';
  const size_t extension = entries_end + texts.size();
  std::string bytes = "glibc-ld.so.cache1.1" + Number(rows.size(), 4) + Number(texts.size(), 4) +
                      Number(2, 4) + Number(hwcaps.empty() ? 0 : extension, 4) + Number(0, 12);
  bytes += entries + texts;
  if (!hwcaps.empty()) {
    bytes += Number(0xEAA42174, 4) + Number(1, 4) + Number(1, 4) + Number(0, 4) +
             Number(extension + 24, 4) + Number(list.size(), 4) + list;
  }
  return bytes;
}

std::vector<std::string> Paths(const LdCache& cache, const std::string& name,
                               const std::vector<std::string>& levels = {},
                               uint16_t machine = EM_X86_64) {
  std::vector<std::string> paths;
  for (const LdCache::Entry* entry : cache.Find(name, machine, levels)) {
    paths.push_back(entry->path);
  }
  return paths;
}

TEST(LdCache, FindsByNameInTheOrderOfTheFile) {
  const auto cache = LdCache::Read(ByteView(CacheBytes(
      {{"liba.so.1", "/opt/liba.so.1"}, {"liba.so.1", "/usr/lib/liba.so.1"}, {"b.so", "/b.so"}})));
  ASSERT_TRUE(cache.ok());
  EXPECT_THAT(Paths(*cache, "liba.so.1"), ElementsAre("/opt/liba.so.1", "/usr/lib/liba.so.1"));
  EXPECT_THAT(Paths(*cache, "liba.so"), IsEmpty());
}

TEST(LdCache, LibrariesOfOtherMachinesAreLeftOut) {
  const auto cache = LdCache::Read(ByteView(CacheBytes(
      {{"a", "/lib32/a", 0x0003}, {"a", "/lib64/a", 0x0303}, {"a", "/aarch64/a", 0x0A03}})));
  ASSERT_TRUE(cache.ok());
  EXPECT_THAT(Paths(*cache, "a"), ElementsAre("/lib64/a"));
  EXPECT_THAT(Paths(*cache, "a", {}, EM_AARCH64), ElementsAre("/aarch64/a"));
}

TEST(LdCache, BetterProcessorsFirstIfThisIsOne) {
  constexpr uint64_t kExtension = uint64_t{1} << 62;
  const std::string bytes = CacheBytes({{"a", "/v3/a", 0x0303, kExtension | 1},
                                        {"a", "/v2/a", 0x0303, kExtension | 0},
                                        {"a", "/old/haswell/a", 0x0303, 4},
                                        {"a", "/a"}},
                                       {"x86-64-v2", "x86-64-v3"});
  const auto cache = LdCache::Read(ByteView(bytes));
  ASSERT_TRUE(cache.ok());
  EXPECT_THAT(Paths(*cache, "a", {"x86-64-v3", "x86-64-v2"}), ElementsAre("/v3/a", "/v2/a", "/a"));
  EXPECT_THAT(Paths(*cache, "a", {"x86-64-v2"}), ElementsAre("/v2/a", "/a"));
  EXPECT_THAT(Paths(*cache, "a"), ElementsAre("/a"));
}

TEST(LdCache, BehindAnOldCacheInTheSameFile) {
  std::string old = std::string("ld.so-1.7.0") + '\0' + Number(1, 4) + std::string(12, 'o');
  while (old.size() % 8 != 0) old += '\0';
  const auto cache = LdCache::Read(ByteView(old + CacheBytes({{"a", "/a"}})));
  ASSERT_TRUE(cache.ok());
  EXPECT_THAT(Paths(*cache, "a"), ElementsAre("/a"));
}

TEST(LdCache, OtherFilesAndLyingCountsAreErrors) {
  EXPECT_EQ(LdCache::Read(ByteView("")).error().code, ErrorCode::kBadMagic);
  EXPECT_EQ(LdCache::Read(ByteView("something else")).error().code, ErrorCode::kBadMagic);
  const std::string bytes = CacheBytes({{"a", "/a"}});
  EXPECT_EQ(LdCache::Read(ByteView(build::Patched(bytes, 20, Number(UINT32_MAX, 4)))).error().code,
            ErrorCode::kTruncated);
}

TEST(LdCache, CutShortOrTurnedOverIsSurvived) {
  std::string bytes = CacheBytes({{"a", "/a", 0x0303, uint64_t{1} << 62}}, {"x86-64-v2"});
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    if (const auto cache = LdCache::Read(ByteView(cut))) Paths(*cache, "a", {"x86-64-v2"});
  }
  for (char& byte : bytes) {
    byte = static_cast<char>(byte ^ 0xFF);
    if (const auto cache = LdCache::Read(ByteView(bytes))) Paths(*cache, "a", {"x86-64-v2"});
    byte = static_cast<char>(byte ^ 0xFF);
  }
}

}  // namespace
}  // namespace cuproof
