#include <gtest/gtest.h>

#include <string>

#include "build_fatbin.h"
#include "image/fatbin.h"
#include "image/file_images.h"

namespace cuproof {
namespace {

using build::ContainerLies;
using build::Entry;

FatbinContainer Read(const std::string& bytes) {
  return ReadFatbin(ByteView(bytes), 0).value_or(FatbinContainer{});
}

const Entry kWhole = build::Sass({80, 0});

// A container whose second entry is a lie: the first must be kept.
FatbinContainer ReadBehindAWholeOne(const Entry& lie) { return Read(build::Fatbin({kWhole, lie})); }

void ExpectDamageBehindTheFirst(const FatbinContainer& container, const std::string& phrase) {
  ASSERT_EQ(container.images.size(), 1u);
  EXPECT_FALSE(container.images[0].damage);
  ASSERT_TRUE(container.damage);
  EXPECT_NE(container.damage->phrase.find(phrase), std::string::npos) << container.damage->phrase;
  EXPECT_EQ(container.damage->offset, 16 + container.images[0].padded_size);
  EXPECT_EQ(container.size, 16 + container.images[0].padded_size);
}

TEST(DamagedFatbin, EntryHeadersThatCannotBeTrue) {
  Entry entry = build::Sass({90, 0});
  for (const uint32_t size : {0u, 1u, 63u}) {
    entry.header_size = size;
    ExpectDamageBehindTheFirst(ReadBehindAWholeOne(entry), "the entry header says it has");
  }
  for (const uint32_t size : {100'000u, 1u << 30, UINT32_MAX}) {
    entry.header_size = size;
    ExpectDamageBehindTheFirst(ReadBehindAWholeOne(entry), "the entry header says it has");
  }
}

TEST(DamagedFatbin, AnEntryHeaderThatIsLongerThanTheContainerByAnyNumberOfBytes) {
  Entry entry = build::Sass({90, 0});
  const auto room = static_cast<uint32_t>(build::EntryBytes(entry).size());
  for (uint32_t more = 1; more <= 16; ++more) {
    entry.header_size = room + more;
    ExpectDamageBehindTheFirst(ReadBehindAWholeOne(entry), "the entry header says it has");
  }
  // One that is as long as the container leaves no room for an image.
  entry.header_size = room;
  ExpectDamageBehindTheFirst(ReadBehindAWholeOne(entry), "0 are left");
}

TEST(DamagedFatbin, PayloadsLargerThanWhatIsLeft) {
  Entry entry = build::Sass({90, 0});
  for (const uint64_t size : {uint64_t{100'000}, uint64_t{1} << 40, UINT64_MAX, UINT64_MAX - 63}) {
    entry.payload_size = size;
    ExpectDamageBehindTheFirst(ReadBehindAWholeOne(entry), "the entry says its image has");
  }
}

TEST(DamagedFatbin, ASecondEntryThatIsNoEntry) {
  std::string bytes = build::Fatbin({kWhole, build::Sass({90, 0})});
  const size_t second = 16 + build::EntryBytes(kWhole).size();
  bytes.replace(second, 64, 64, '\0');
  ExpectDamageBehindTheFirst(Read(bytes), "the entry header says it has 0 bytes");
}

TEST(DamagedFatbin, AFirstEntryThatIsNoEntryInAContainerThatFits) {
  for (const size_t size : {8u, 24u, 64u, 1000u}) {
    ContainerLies lies;
    lies.body_size = size;
    const std::string bytes = "x" + build::Fatbin({}, lies) + std::string(size, '\0');
    const auto container = ReadFatbin(ByteView(bytes), 1);
    ASSERT_TRUE(container) << size;
    EXPECT_TRUE(container->damage) << size;
  }
}

TEST(DamagedFatbin, BytesBehindTheLastEntryThatAreNoEntry) {
  for (const uint64_t more : {1u, 8u, 63u}) {
    ContainerLies lies;
    lies.body_size = build::EntryBytes(kWhole).size() + more;
    const FatbinContainer container = Read(build::Fatbin({kWhole}, lies) + std::string(100, '\0'));
    ExpectDamageBehindTheFirst(container, "expected an entry header of 64 bytes");
  }
}

TEST(DamagedFatbin, AContainerThatSaysItIsShorterThanItsEntries) {
  ContainerLies lies;
  lies.body_size = build::EntryBytes(kWhole).size() - 64;
  const FatbinContainer container = Read(build::Fatbin({kWhole}, lies));
  EXPECT_TRUE(container.images.empty());
  ASSERT_TRUE(container.damage);
  EXPECT_EQ(container.size, 16u);
}

TEST(DamagedFatbin, AContainerThatSaysItIsLongerThanTheFileIsCutShort) {
  for (const uint64_t size : {uint64_t{1} << 40, UINT64_MAX, UINT64_MAX - 15}) {
    ContainerLies lies;
    lies.body_size = size;
    const FatbinContainer container = Read(build::Fatbin({kWhole}, lies));
    EXPECT_EQ(container.images.size(), 1u);
    ASSERT_TRUE(container.damage);
    EXPECT_EQ(container.damage->code, ErrorCode::kTruncated);
    EXPECT_EQ(container.damage->offset, 0u);
  }
}

TEST(DamagedFatbin, AHeaderLongerThanTheFile) {
  std::string bytes = build::Fatbin({});
  bytes = build::Patched(bytes, 6, build::Number(0xFFFF, 2));
  const FatbinContainer container = Read(bytes);
  ASSERT_TRUE(container.damage);
  EXPECT_EQ(container.damage->code, ErrorCode::kTruncated);
  EXPECT_EQ(container.size, 16u);
}

TEST(DamagedFatbin, MoreCompressedBytesThanTheImageHas) {
  Entry entry = build::Compressed(build::Ptx({80, 0}, {9, 0}), Compression::kZstd);
  entry.stored_size = UINT32_MAX;
  const FatbinContainer container = Read(build::Fatbin({entry, kWhole}));
  EXPECT_FALSE(container.damage);
  ASSERT_EQ(container.images.size(), 2u);
  ASSERT_TRUE(container.images[0].damage);
  EXPECT_EQ(container.images[0].damage->offset, 16u);
  EXPECT_LE(container.images[0].payload + container.images[0].stored_size,
            container.images[1].offset);
  EXPECT_FALSE(container.images[1].damage);
}

TEST(DamagedFatbin, AnImageWithoutBytesIsFollowedByAnother) {
  Entry empty = build::Sass({90, 0});
  empty.payload.clear();
  const FatbinContainer container = Read(build::Fatbin({empty, empty, kWhole}));
  EXPECT_FALSE(container.damage);
  EXPECT_EQ(container.images.size(), 3u);
}

TEST(DamagedFatbin, SoManyEntriesThatNoBuildHasThem) {
  Entry empty;
  std::string body = build::EntryBytes(empty);
  std::string bytes = build::Fatbin({}, {1, 16, (kMaxEntries + 5) * body.size()});
  bytes.reserve(bytes.size() + (kMaxEntries + 5) * body.size());
  for (size_t i = 0; i < kMaxEntries + 5; ++i) bytes += body;
  const FatbinContainer container = Read(bytes);
  EXPECT_EQ(container.images.size(), kMaxEntries);
  ASSERT_TRUE(container.damage);
  EXPECT_EQ(container.damage->code, ErrorCode::kTooLarge);
}

// Files cut short: every length. Either fewer images are listed, or the file says that it is
// damaged; a cut in what no image needs may go unseen.

size_t DamageCount(const FileImages& file) {
  size_t count = file.damage.size() + file.host.damage.size();
  for (const Image& image : file.images) count += image.damage ? 1 : 0;
  return count;
}

void ReadEveryLength(const std::string& whole, size_t silent_below) {
  FileImages all = ListImages(ByteView(whole));
  ReadDeep(ByteView(whole), all, 1);
  EXPECT_EQ(DamageCount(all), 0u);
  ASSERT_GT(all.images.size(), 0u);
  for (size_t length = 0; length < whole.size(); ++length) {
    const std::string cut = whole.substr(0, length);  // its own bytes: reads past them are caught
    FileImages file = ListImages(ByteView(cut));
    EXPECT_LE(file.images.size(), all.images.size()) << length;
    ReadToolkits(ByteView(cut), file);
    ReadDeep(ByteView(cut), file, 1);
    if (length >= silent_below) {
      EXPECT_GT(DamageCount(file), 0u) << length;
    }
  }
}

std::string SmallFatbin() {
  Entry ptx = build::Ptx({75, 0}, {8, 0});
  ptx.options = "-O1 ";
  ptx.identifier = "kernel.cu";
  return build::Fatbin({build::Sass({80, 0}), build::Compressed(ptx, Compression::kLz4Block),
                        build::Compressed(build::Sass({90, 'a'}), Compression::kZstd),
                        build::LtoIr({75, 0})});
}

TEST(CutFile, AFatbinOfEveryLength) { ReadEveryLength(SmallFatbin(), 4); }

TEST(CutFile, ASharedObjectOfEveryLength) {
  ReadEveryLength(build::SharedObject(SmallFatbin()), 7);
}

TEST(CutFile, AnArchiveOfEveryLength) {
  const std::string object = build::SharedObject(build::Fatbin({build::Sass({80, 0})}), 0);
  // Behind the magic and each whole member there is a sound, shorter archive.
  const std::string whole =
      build::Archive({{"a.o", object}, {"a-long-name-of-a-member.o", object}});
  FileImages all = ListImages(ByteView(whole));
  EXPECT_EQ(all.images.size(), 2u);
  for (size_t length = 0; length < whole.size(); ++length) {
    const std::string cut = whole.substr(0, length);
    FileImages file = ListImages(ByteView(cut));
    ReadDeep(ByteView(cut), file, 1);
    EXPECT_TRUE(DamageCount(file) > 0 || file.images.size() < 2) << length;
  }
}

TEST(CutFile, AWindowsFileOfEveryLength) {
  const std::string whole =
      build::PeBytes({{".text", build::Noise(64)}, {".nv_fatb", SmallFatbin()}});
  const FileImages all = ListImages(ByteView(whole));
  EXPECT_EQ(all.images.size(), 4u);
  for (size_t length = 0; length < whole.size(); ++length) {
    const std::string cut = whole.substr(0, length);
    FileImages file = ListImages(ByteView(cut));
    ReadDeep(ByteView(cut), file, 1);
    EXPECT_TRUE(DamageCount(file) > 0 || file.images.empty()) << length;
  }
}

TEST(CutFile, ACubinOfEveryLength) {
  build::Cubin cubin;
  cubin.compat_a = 1;
  ReadEveryLength(build::CubinBytes(cubin), 20);
  cubin.abi = 7;
  ReadEveryLength(build::CubinBytes(cubin), 20);
}

TEST(CutFile, APtxTextOfEveryLength) {
  const std::string whole = build::PtxText({9, 0}, "sm_90");
  for (size_t length = 0; length < whole.size(); ++length) {
    const std::string cut = whole.substr(0, length);
    FileImages file = ListImages(ByteView(cut));
    ReadDeep(ByteView(cut), file, 1);
    const bool in_block = length > whole.find('{') && length <= whole.rfind('}');
    EXPECT_TRUE(DamageCount(file) > 0 || !in_block) << length;
  }
}

// Every byte of a small file, flipped: nothing to expect but an answer.
TEST(FlippedByte, EveryOneGetsAnAnswer) {
  const std::string whole = build::SharedObject(SmallFatbin());
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string bad = whole;
    bad[at] = static_cast<char>(~bad[at]);
    FileImages file = ListImages(ByteView(bad));
    ReadToolkits(ByteView(bad), file);
    ReadDeep(ByteView(bad), file, 1);
    EXPECT_TRUE(file.deep);
  }
}

}  // namespace
}  // namespace cuproof
