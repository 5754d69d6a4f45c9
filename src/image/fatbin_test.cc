#include "image/fatbin.h"

#include <gtest/gtest.h>

#include <string>

#include "build_fatbin.h"

namespace cuproof {
namespace {

using build::Entry;

FatbinContainer Read(const std::string& bytes, uint64_t offset = 0) {
  const auto container = ReadFatbin(ByteView(bytes), offset);
  EXPECT_TRUE(container) << "taken for no container";
  return container.value_or(FatbinContainer{});
}

Image ReadOne(const Entry& entry) {
  const FatbinContainer container = Read(build::Fatbin({entry}));
  EXPECT_FALSE(container.damage) << container.damage->Text();
  EXPECT_EQ(container.images.size(), 1u);
  return container.images.empty() ? Image{} : container.images[0];
}

TEST(Fatbin, APlainCubinEntryGivesEveryField) {
  const Entry entry = build::Sass({90, 0});
  const std::string bytes = build::Fatbin({entry});
  const FatbinContainer container = Read(bytes);
  EXPECT_EQ(container.size, bytes.size());
  ASSERT_EQ(container.images.size(), 1u);
  const Image& image = container.images[0];
  EXPECT_EQ(image.kind, ImageKind::kCubin);
  EXPECT_EQ(image.raw_kind, 2);
  EXPECT_EQ(image.arch, (Arch{90, 0}));
  EXPECT_EQ(image.version, (Version{1, 8}));
  EXPECT_FALSE(image.toolkit.known());
  EXPECT_EQ(image.compression, Compression::kNone);
  EXPECT_FALSE(image.masked);
  EXPECT_FALSE(image.relocatable);
  EXPECT_EQ(image.flags, 0x11u);
  EXPECT_EQ(image.offset, 16u);
  EXPECT_EQ(image.payload, 16u + 64);
  EXPECT_EQ(image.stored_size, bytes.size() - 80);
  EXPECT_EQ(image.padded_size, bytes.size() - 16);
  EXPECT_EQ(image.raw_size, image.stored_size);
  EXPECT_EQ(image.identifier, "");
  EXPECT_EQ(image.options, "");
  EXPECT_FALSE(image.damage);
  EXPECT_FALSE(image.has_code);
}

TEST(Fatbin, ACompressedEntryHasThreeSizes) {
  Entry entry = build::Compressed(build::Ptx({80, 0}, {9, 1}), Compression::kZstd);
  entry.payload += std::string(1000, ' ') + '\0';
  const Image image = ReadOne(entry);
  EXPECT_EQ(image.version, (Version{9, 1}));
  EXPECT_EQ(image.compression, Compression::kZstd);
  EXPECT_EQ(image.stored_size, build::Zstd(entry.payload).size());
  EXPECT_EQ(image.padded_size, 64 + (image.stored_size + 7) / 8 * 8);
  EXPECT_EQ(image.raw_size, entry.payload.size());
}

TEST(Fatbin, KindsAreToldByTheirNumber) {
  EXPECT_EQ(ReadOne(build::Ptx({80, 0}, {9, 0})).kind, ImageKind::kPtx);
  EXPECT_EQ(ReadOne(build::Sass({80, 0})).kind, ImageKind::kCubin);
  EXPECT_EQ(ReadOne(build::LtoIr({80, 0})).kind, ImageKind::kLtoIr);
  Entry tile;
  tile.kind = fatbin::kKindTileIr;
  tile.payload = "anything";
  EXPECT_EQ(ReadOne(tile).kind, ImageKind::kTileIr);
}

TEST(Fatbin, AnUnknownKindIsToldByItsFirstBytesAndKeepsItsNumber) {
  Entry entry = build::Sass({90, 0});
  entry.kind = 0x40;
  EXPECT_EQ(ReadOne(entry).kind, ImageKind::kCubin);
  EXPECT_EQ(ReadOne(entry).raw_kind, 0x40);
  entry.payload = std::string("\x7FTileIR\0", 8);
  EXPECT_EQ(ReadOne(entry).kind, ImageKind::kTileIr);
  entry.payload = "\xED\x43\x4E\x7F....";
  EXPECT_EQ(ReadOne(entry).kind, ImageKind::kLtoIr);
  entry.payload = "something else";
  EXPECT_EQ(ReadOne(entry).kind, ImageKind::kUnknown);
  entry.payload = "";
  EXPECT_EQ(ReadOne(entry).kind, ImageKind::kUnknown);
}

TEST(Fatbin, AnUnknownKindIsNotGuessedFromCompressedBytes) {
  Entry entry = build::Compressed(build::Sass({90, 0}), Compression::kZstd);
  entry.kind = 0x40;
  EXPECT_EQ(ReadOne(entry).kind, ImageKind::kUnknown);
}

TEST(Fatbin, SuffixesStandInTheFlags) {
  EXPECT_EQ(ReadOne(build::Sass({90, 'a'})).arch, (Arch{90, 'a'}));
  EXPECT_EQ(ReadOne(build::Sass({100, 'f'})).arch, (Arch{100, 'f'}));
  EXPECT_EQ(ReadOne(build::Ptx({120, 'f'}, {8, 8})).arch, (Arch{120, 'f'}));
  Entry both = build::Sass({100, 'f'});
  both.flags |= fatbin::kFlagSuffixA;
  EXPECT_EQ(ReadOne(both).arch, (Arch{100, 'a'}));
}

TEST(Fatbin, EveryFlagIsKept) {
  for (int bit = 0; bit < 64; ++bit) {
    Entry entry = build::Sass({90, 0});
    entry.flags = uint64_t{1} << bit;
    EXPECT_EQ(ReadOne(entry).flags, uint64_t{1} << bit);
  }
}

TEST(Fatbin, CompressionStandsInTheFlags) {
  const Entry entry = build::Ptx({80, 0}, {9, 0});
  for (const Compression compression :
       {Compression::kNone, Compression::kLz4Block, Compression::kLz4Frame, Compression::kZstd}) {
    EXPECT_EQ(ReadOne(build::Compressed(entry, compression)).compression, compression);
  }
}

TEST(Fatbin, MaskedLtoIrIsMarked) {
  EXPECT_TRUE(ReadOne(build::LtoIr({75, 0}, true)).masked);
  EXPECT_FALSE(ReadOne(build::LtoIr({75, 0}, false)).masked);
}

TEST(Fatbin, OptionsAndIdentifierLieInAHeaderOf64To128Bytes) {
  Entry entry = build::Ptx({80, 0}, {9, 0});
  size_t longest = 0;
  for (size_t length = 0; length <= 40; ++length) {
    entry.options = length ? std::string(length, 'o') : std::string();
    entry.identifier = length % 3 ? std::string("a.cu") : std::string();
    const Image image = ReadOne(entry);
    EXPECT_EQ(image.options, entry.options);
    EXPECT_EQ(image.identifier, entry.identifier);
    EXPECT_EQ((image.payload - image.offset) % 8, 0u);
    longest = std::max<size_t>(longest, image.payload - image.offset);
  }
  EXPECT_GE(longest, 120u);
}

TEST(Fatbin, OptionsAreTrimmed) {
  Entry entry = build::Ptx({80, 0}, {9, 0});
  entry.options = " -maxrregcount=32 ";
  EXPECT_EQ(ReadOne(entry).options, "-maxrregcount=32");
  entry.options = "-O1  --generate-line-info ";
  EXPECT_EQ(ReadOne(entry).options, "-O1  --generate-line-info");
}

TEST(Fatbin, PtxOfARelocatableBuildIsToldByItsOptions) {
  Entry entry = build::Ptx({80, 0}, {9, 0});
  EXPECT_FALSE(ReadOne(entry).relocatable);
  entry.options = "--compile-only  ";
  EXPECT_TRUE(ReadOne(entry).relocatable);
}

TEST(Fatbin, TheOptionRecordOfACubinIsNoText) {
  Entry entry = build::Sass({100, 0});
  entry.options = '\0' + build::CompatSection(0);
  EXPECT_EQ(ReadOne(entry).options, "");
  entry.options = "looks like text";
  EXPECT_EQ(ReadOne(entry).options, "");
}

TEST(Fatbin, RecordsThatLieOutsideTheHeaderAreLeftOut) {
  Entry entry = build::Ptx({80, 0}, {9, 0});
  entry.options = "-O1";
  entry.options_at = 4096;
  EXPECT_EQ(ReadOne(entry).options, "");
  entry.options_at = UINT32_MAX;
  EXPECT_EQ(ReadOne(entry).options, "");
  entry.options_at.reset();
  entry.identifier = "a.cu";
  entry.identifier_size = 5000;
  EXPECT_EQ(ReadOne(entry).identifier, "");
  EXPECT_EQ(ReadOne(entry).options, "-O1");
}

TEST(Fatbin, EntriesOfOneContainerComeInOrder) {
  const std::string bytes = build::Fatbin({build::Sass({80, 0}), build::Sass({90, 'a'}),
                                           build::Ptx({90, 0}, {9, 0}), build::LtoIr({75, 0})});
  const FatbinContainer container = Read(bytes);
  ASSERT_EQ(container.images.size(), 4u);
  EXPECT_EQ(ImageTarget(container.images[0]), "sm_80");
  EXPECT_EQ(ImageTarget(container.images[1]), "sm_90a");
  EXPECT_EQ(ImageTarget(container.images[2]), "compute_90");
  EXPECT_EQ(ImageTarget(container.images[3]), "lto_75");
  uint64_t end = 16;
  for (const Image& image : container.images) {
    EXPECT_EQ(image.offset, end);
    end += image.padded_size;
  }
  EXPECT_EQ(end, bytes.size());
}

TEST(Fatbin, ReadsAtAnyOffsetAndStopsAtItsEnd) {
  const std::string container = build::Fatbin({build::Sass({90, 0})});
  for (size_t offset = 0; offset < 70; ++offset) {
    const std::string bytes = std::string(offset, '\xED') + container + "what follows";
    const FatbinContainer read = Read(bytes, offset);
    EXPECT_FALSE(read.damage);
    EXPECT_EQ(read.size, container.size());
    ASSERT_EQ(read.images.size(), 1u);
    EXPECT_EQ(read.images[0].offset, offset + 16);
  }
}

TEST(Fatbin, ALongerHeaderIsSkipped) {
  build::ContainerLies lies;
  lies.header_size = 24;
  const FatbinContainer container = Read(build::Fatbin({build::Sass({90, 0})}, lies));
  EXPECT_FALSE(container.damage);
  ASSERT_EQ(container.images.size(), 1u);
  EXPECT_EQ(container.images[0].offset, 24u);
}

TEST(Fatbin, AnEntryVersionThatWeDoNotKnowIsNoDamage) {
  Entry entry = build::Sass({90, 0});
  entry.entry_version = 0x0102;
  EXPECT_EQ(ReadOne(entry).arch, (Arch{90, 0}));
}

TEST(Fatbin, AContainerMayBeEmpty) {
  const FatbinContainer container = Read(build::Fatbin({}));
  EXPECT_EQ(container.size, 16u);
  EXPECT_TRUE(container.images.empty());
  EXPECT_FALSE(container.damage);
}

TEST(Fatbin, OtherVersionsAndShortHeadersAreNoContainer) {
  build::ContainerLies lies;
  lies.version = 2;
  EXPECT_FALSE(ReadFatbin(ByteView(build::Fatbin({build::Sass({90, 0})}, lies)), 0));
  lies.version = 1;
  lies.header_size = 15;
  EXPECT_FALSE(ReadFatbin(ByteView(build::Fatbin({build::Sass({90, 0})}, lies)), 0));
  EXPECT_FALSE(ReadFatbin(ByteView("\x50\xED\x55\xBA"), 0));
  EXPECT_FALSE(ReadFatbin(ByteView(), 0));
  EXPECT_FALSE(ReadFatbin(ByteView("short"), UINT64_MAX));
}

// fatbinary and nvlink of every toolkit hold the magic in their code.
TEST(Fatbin, TheMagicAsAnImmediateInCodeIsNoContainer) {
  using namespace std::string_literals;
  const std::string code[] = {
      // movabs $0x1ba55ed50,%rdx; cmp %rdx,%rax: nvlink 13.0
      "\x48\xBA\x50\xED\x55\xBA\x01\x00\x00\x00\x48\x39\xD0\x74\x5A"s,
      // movabs $0x100001ba55ed50,%rax; movl $0xa0,-0x…(%rbp): fatbinary 13.2
      "\x48\xB8\x50\xED\x55\xBA\x01\x00\x10\x00\xC7\x85\xA0\x00\x00\x00\x00\x00\x00\x00"s,
      "\x48\xB8\x50\xED\x55\xBA\x01\x00\x10\x00\xC7\x45\x78\x00\x00\x80\x3F\x48"s,
      "\x48\xB8\x50\xED\x55\xBA\x01\x00\x10\x00\x4D\x8B\x7C\x24\x20\x49\xC7\x84"s};
  for (const std::string& instructions : code) {
    const std::string bytes = build::Noise(100) + instructions + build::Noise(2000);
    const auto at = FindFatbin(ByteView(bytes), 0);
    EXPECT_FALSE(at && ReadFatbin(ByteView(bytes), *at)) << "at " << at.value_or(0);
  }
}

// Finding.

TEST(FindFatbin, FindsAContainerAtEveryOffset) {
  const std::string container = build::Fatbin({});
  for (size_t offset = 0; offset <= 600; ++offset) {
    for (const size_t behind : {0u, 1u, 15u, 16u, 240u, 255u, 256u, 257u, 600u}) {
      const std::string bytes = std::string(offset, '\x50') + container + std::string(behind, 'x');
      ASSERT_EQ(FindFatbin(ByteView(bytes), 0), offset) << behind << " bytes behind";
      ASSERT_EQ(FindFatbin(ByteView(bytes), offset), offset) << behind << " bytes behind";
      ASSERT_FALSE(FindFatbin(ByteView(bytes), offset + 1)) << behind << " bytes behind";
    }
  }
}

TEST(FindFatbin, IsNotMisledByTheFirstBytesOfTheMagicAtBlockBorders) {
  const std::string container = build::Fatbin({});
  const std::string almost[] = {"\x50\xED", "\x50\xED\x55\xBA",
                                std::string("\x50\xED\x55\xBA\2\0", 6)};
  for (const std::string& decoy : almost) {
    for (size_t at = 240; at <= 270; ++at) {
      const std::string front = build::Patched(std::string(1024, 'x'), at, decoy);
      const std::string bytes = front + container;
      ASSERT_EQ(FindFatbin(ByteView(bytes), 0), 1024u) << at;
      ASSERT_EQ(FindFatbin(ByteView(bytes), 3), 1024u) << at;
    }
  }
}

TEST(FindFatbin, FindsEachOfSeveral) {
  const std::string container = build::Fatbin({build::Sass({90, 0})});
  const std::string bytes = "x" + container + container + std::string(300, '\0') + container;
  std::vector<uint64_t> found;
  for (auto at = FindFatbin(ByteView(bytes), 0); at; at = FindFatbin(ByteView(bytes), *at + 1)) {
    found.push_back(*at);
  }
  EXPECT_EQ(found, (std::vector<uint64_t>{1, 1 + container.size(), 301 + 2 * container.size()}));
}

TEST(FindFatbin, StopsWhereNoHeaderFits) {
  const std::string container = build::Fatbin({});
  for (size_t length = 0; length < 16; ++length) {
    EXPECT_FALSE(FindFatbin(ByteView(container).Clamp(0, length), 0)) << length;
  }
  EXPECT_FALSE(FindFatbin(ByteView(), 0));
  EXPECT_FALSE(FindFatbin(ByteView(container), 5000));
  EXPECT_FALSE(FindFatbin(ByteView(container), UINT64_MAX));
}

}  // namespace
}  // namespace cuproof
