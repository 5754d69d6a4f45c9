#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "build_fatbin.h"
#include "image/file_images.h"

namespace cuproof {
namespace {

using build::Compressed;
using build::Entry;
using build::Fatbin;
using build::Ptx;
using build::Sass;
using testing::HasSubstr;
using testing::IsEmpty;

FileImages Deep(const std::string& bytes, unsigned threads = 1) {
  FileImages file = ListImages(ByteView(bytes));
  ReadDeep(ByteView(bytes), file, threads);
  EXPECT_TRUE(file.deep);
  return file;
}

std::string DamageOf(const Entry& entry) {
  const FileImages file = Deep(Fatbin({entry}));
  EXPECT_EQ(file.images.size(), 1u);
  const Image& image = file.images[0];
  if (!image.damage) return "";
  EXPECT_EQ(image.damage->offset, image.offset);
  return image.damage->phrase;
}

TEST(ReadDeep, ImagesThatAreWhatTheirHeadersSayAreSound) {
  for (const Compression compression :
       {Compression::kNone, Compression::kLz4Block, Compression::kZstd}) {
    EXPECT_EQ(DamageOf(Compressed(Sass({90, 0}), compression)), "");
    EXPECT_EQ(DamageOf(Compressed(Sass({90, 'a'}), compression)), "");
    EXPECT_EQ(DamageOf(Compressed(Sass({100, 'f'}), compression)), "");
    EXPECT_EQ(DamageOf(Compressed(Sass({80, 0}, {12, 2}), compression)), "");
    EXPECT_EQ(DamageOf(Compressed(Ptx({90, 'a'}, {8, 4}), compression)), "");
  }
}

TEST(ReadDeep, LearnsToolkitAndCodeOfEachImage) {
  Entry relocatable = Sass({80, 0});
  build::Cubin cubin;
  cubin.arch = {80, 0};
  cubin.type = ET_REL;
  relocatable.payload = build::CubinBytes(cubin);
  const FileImages file = Deep(
      Fatbin({Sass({90, 0}, {13, 1}), Sass({90, 0}, {13, 0}), relocatable, Ptx({90, 0}, {9, 0})}));
  EXPECT_EQ(file.images[0].toolkit, (Version{13, 1}));
  EXPECT_EQ(file.images[1].toolkit, (Version{13, 0}));
  EXPECT_FALSE(file.images[1].relocatable);
  EXPECT_TRUE(file.images[2].relocatable);
  for (const Image& image : file.images) EXPECT_EQ(image.has_code, true);
}

TEST(ReadDeep, ImagesWithoutKernelsAreKnownAsSuch) {
  Entry cubin = Sass({90, 0});
  build::Cubin empty;
  empty.code = false;
  cubin.payload = build::CubinBytes(empty);
  Entry ptx = Ptx({90, 0}, {9, 0});
  ptx.payload = ".version 9.0\n.target sm_90\n.address_size 64\n";
  const FileImages file = Deep(Fatbin({cubin, ptx}));
  EXPECT_EQ(file.images[0].has_code, false);
  EXPECT_EQ(file.images[1].has_code, false);
  EXPECT_FALSE(file.images[0].damage);
}

// Tried on an H200 with r580: error 300 or 209.
TEST(ReadDeep, ACubinForAnotherArchThanItsHeaderSays) {
  Entry entry = Sass({80, 0});
  entry.arch = {90, 0};
  EXPECT_EQ(DamageOf(entry), "the entry header says sm_90, the cubin in it is for sm_80");
  EXPECT_EQ(DamageOf(Compressed(entry, Compression::kZstd)),
            "the entry header says sm_90, the cubin in it is for sm_80");
}

// These load and run there: the driver looks at the number only.
TEST(ReadDeep, ACubinWithAnotherSuffixOrAbiThanItsHeaderSaysIsNoDamage) {
  Entry entry = Sass({90, 'a'});
  entry.arch = {90, 0};
  EXPECT_EQ(DamageOf(entry), "");
  entry = Sass({90, 0});
  entry.arch = {90, 'a'};
  EXPECT_EQ(DamageOf(entry), "");
  entry = Sass({90, 0});
  entry.version = {1, 7};
  EXPECT_EQ(DamageOf(entry), "");
  entry.version = {1, 9};
  EXPECT_EQ(DamageOf(entry), "");
}

TEST(ReadDeep, PtxForAnotherTargetThanItsHeaderSays) {
  Entry entry = Ptx({80, 0}, {8, 0});
  entry.arch = {100, 0};
  EXPECT_EQ(DamageOf(entry), "the entry header says compute_100, the PTX in it has .target sm_80");
  entry.arch = {80, 'a'};
  EXPECT_THAT(DamageOf(entry), HasSubstr("compute_80a"));
}

// The driver compiles what the text says, and the header's number has no effect.
TEST(ReadDeep, PtxOfAnotherIsaThanItsHeaderSaysTakesThatOfTheText) {
  Entry entry = Ptx({80, 0}, {9, 1});
  entry.version = {9, 0};
  const FileImages file = Deep(Fatbin({entry}));
  EXPECT_FALSE(file.images[0].damage);
  EXPECT_EQ(file.images[0].version, (Version{9, 1}));
}

TEST(ReadDeep, APayloadOfAnotherKindThanItsHeaderSays) {
  Entry entry = Sass({90, 0});
  entry.kind = fatbin::kKindPtx;
  EXPECT_EQ(DamageOf(entry), "expected PTX text that starts with .version");
  entry = Ptx({90, 0}, {9, 0});
  entry.kind = fatbin::kKindCubin;
  EXPECT_EQ(DamageOf(entry), "expected a cubin (ELF64, machine 190)");
  entry.payload = "";
  EXPECT_EQ(DamageOf(entry), "expected a cubin (ELF64, machine 190)");
}

TEST(ReadDeep, PtxThatEndsInsideABlockOrHoldsANul) {
  Entry entry = Ptx({80, 0}, {8, 0});
  entry.payload.erase(entry.payload.rfind('}'), 1);
  EXPECT_THAT(DamageOf(entry), HasSubstr("cut short"));
  entry = Ptx({80, 0}, {8, 0});
  entry.payload[entry.payload.find("ret;")] = '\0';
  EXPECT_THAT(DamageOf(entry), HasSubstr("NUL"));
  EXPECT_THAT(DamageOf(Compressed(entry, Compression::kZstd)), HasSubstr("NUL"));
}

// The driver reads a plain text up to its NUL.
TEST(ReadDeep, PlainPtxWithoutANulBeforeTheNextEntry) {
  Entry entry = Ptx({80, 0}, {8, 0});
  while (!entry.payload.empty() && entry.payload.back() == '\0') entry.payload.pop_back();
  entry.payload.resize((entry.payload.size() + 7) / 8 * 8, '\n');
  FileImages file = Deep(Fatbin({entry, Sass({90, 0})}));
  ASSERT_TRUE(file.images[0].damage);
  EXPECT_EQ(file.images[0].damage->phrase, "the PTX text has no NUL behind it");
  EXPECT_FALSE(file.images[1].damage);
  // At the end of the file, in front of a zero, or compressed: its end is known.
  EXPECT_EQ(DamageOf(entry), "");
  EXPECT_FALSE(Deep("x" + Fatbin({entry}) + std::string(8, '\0')).images[0].damage);
  EXPECT_FALSE(
      Deep(Fatbin({Compressed(entry, Compression::kZstd), Sass({90, 0})})).images[0].damage);
}

TEST(ReadDeep, LiesAboutSizes) {
  for (const Compression compression : {Compression::kLz4Block, Compression::kZstd}) {
    Entry entry = Compressed(Sass({90, 0}), compression);
    const uint64_t true_size = entry.payload.size();
    for (const uint64_t lie :
         {uint64_t{0}, true_size - 1, true_size + 1, uint64_t{1} << 40, UINT64_MAX}) {
      entry.raw_size = lie;
      EXPECT_NE(DamageOf(entry), "") << lie;
    }
    entry.raw_size.reset();
    entry.stored_size = 20;
    EXPECT_NE(DamageOf(entry), "");
  }
}

TEST(ReadDeep, ALieThatIsTooLargeTakesNothingFromTheOthers) {
  std::vector<Entry> entries(200, Compressed(Sass({90, 0}), Compression::kZstd));
  for (size_t i = 1; i < entries.size(); ++i) entries[i].raw_size = UINT64_MAX / 2;
  const FileImages file = Deep(Fatbin(entries));
  EXPECT_FALSE(file.images[0].damage);
  EXPECT_EQ(file.images[1].damage->code, ErrorCode::kTooLarge);
}

TEST(ReadDeep, CompressedBytesUnderTheWrongFlag) {
  Entry entry = Sass({90, 0});
  entry.payload = build::Zstd(entry.payload);
  EXPECT_EQ(DamageOf(entry), "expected a cubin (ELF64, machine 190)");
  entry.flags |= fatbin::kFlagLz4Block;
  entry.stored_size = static_cast<uint32_t>(entry.payload.size());
  entry.raw_size = Sass({90, 0}).payload.size();
  EXPECT_NE(DamageOf(entry), "");
}

TEST(ReadDeep, MaskedLtoIrIsListedAndNotExpanded) {
  Entry entry = build::LtoIr({75, 0}, true);
  entry.raw_size = UINT64_MAX;
  const FileImages file = Deep(Fatbin({entry, build::LtoIr({80, 0}, false)}));
  ASSERT_EQ(file.images.size(), 2u);
  EXPECT_EQ(ImageTarget(file.images[0]), "lto_75");
  EXPECT_TRUE(file.images[0].masked);
  EXPECT_FALSE(file.images[0].damage);
  EXPECT_FALSE(file.images[1].damage);
}

TEST(ReadDeep, Lz4FramesAreListedAndNotExpanded) {
  EXPECT_EQ(DamageOf(Compressed(Sass({90, 0}), Compression::kLz4Frame)), "");
}

TEST(ReadDeep, ManyThreadsFindTheSame) {
  std::vector<Entry> entries;
  for (const uint32_t sm : {75u, 80u, 86u, 89u, 90u}) {
    entries.push_back(Compressed(Sass({sm, 0}), Compression::kZstd));
    entries.push_back(Compressed(Sass({sm, 0}), Compression::kLz4Block));
    Entry wrong = Sass({sm, 0});
    wrong.arch.number = 70;
    entries.push_back(wrong);
  }
  const std::string bytes = build::SharedObject(Fatbin(entries));
  const FileImages one = Deep(bytes, 1);
  const FileImages many = Deep(bytes, 8);
  ASSERT_EQ(one.images.size(), many.images.size());
  for (size_t i = 0; i < one.images.size(); ++i) {
    EXPECT_EQ(one.images[i].damage.has_value(), many.images[i].damage.has_value()) << i;
    EXPECT_EQ(one.images[i].damage.has_value(), i % 3 == 2) << i;
  }
}

// cuBLASLt of CUDA 13.0 holds 393 frames, each a cubin without a container.

std::string WithBareCubins() {
  build::Cubin second;
  second.arch = {75, 0};
  second.abi = 7;
  build::HostElf elf;
  elf.sections = {
      {".ldata", SHT_PROGBITS, "abc" + build::Zstd(build::CubinBytes({})) + "def"},
      {".data", SHT_PROGBITS, "ghi" + build::CubinBytes(second) + "jkl"},
      {".nv_fatbin", SHT_PROGBITS, Fatbin({Compressed(Sass({80, 0}), Compression::kZstd)})}};
  return build::HostElfBytes(elf);
}

TEST(BareCubins, AreFoundOnlyByADeepReading) {
  const std::string bytes = WithBareCubins();
  EXPECT_EQ(ListImages(ByteView(bytes)).images.size(), 1u);
  const FileImages file = Deep(bytes);
  ASSERT_EQ(file.images.size(), 3u);
  EXPECT_EQ(ImageTarget(file.images[0]), "sm_80");
  const Image& frame = file.images[1];
  EXPECT_EQ(ImageTarget(frame), "sm_90");
  EXPECT_EQ(frame.compression, Compression::kZstd);
  EXPECT_EQ(frame.raw_size, build::CubinBytes({}).size());
  EXPECT_EQ(frame.toolkit, (Version{13, 0}));
  const Image& plain = file.images[2];
  EXPECT_EQ(ImageTarget(plain), "sm_75");
  EXPECT_EQ(plain.version, (Version{1, 7}));
  ASSERT_EQ(file.modules.size(), 3u);
  EXPECT_EQ(file.modules[1].kind, ModuleKind::kZstdFrame);
  EXPECT_EQ(file.modules[1].section, ".ldata");
  EXPECT_EQ(file.modules[2].kind, ModuleKind::kCubin);
  EXPECT_EQ(file.modules[2].section, ".data");
  EXPECT_THAT(file.damage, IsEmpty());
}

TEST(BareCubins, InsideAContainerAreNotCountedTwice) {
  EXPECT_EQ(
      Deep(Fatbin({Sass({90, 0}), Compressed(Sass({80, 0}), Compression::kZstd)})).images.size(),
      2u);
}

TEST(BareCubins, OneInsideAnotherIsPartOfIt) {
  build::Cubin outer;
  outer.sections = {{".data", SHT_PROGBITS, build::CubinBytes({})}};
  EXPECT_EQ(Deep("x" + build::CubinBytes(outer)).images.size(), 1u);
}

TEST(BareCubins, OtherFramesAreLeftAlone) {
  const std::string text(5000, 'x');
  const FileImages file = Deep("x" + build::Zstd(text) + build::Zstd(build::HostElfBytes({})) +
                               "\x28\xB5\x2F\xFD and no frame behind it" + build::Noise(100));
  EXPECT_THAT(file.images, IsEmpty());
  EXPECT_THAT(file.damage, IsEmpty());
}

// Of several blocks: the first one tells what it is.
std::string LongFrame() {
  build::Cubin cubin;
  cubin.sections = {{".data", SHT_PROGBITS, std::string(300'000, 'x')}};
  return build::Zstd(build::CubinBytes(cubin));
}

TEST(BareCubins, AFrameOfACubinThatIsCutIsDamage) {
  const std::string frame = LongFrame();
  const FileImages file = Deep("x" + frame.substr(0, frame.size() - 5));
  EXPECT_THAT(file.images, IsEmpty());
  ASSERT_EQ(file.damage.size(), 1u);
  EXPECT_EQ(file.damage[0].offset, 1u);
}

TEST(BareCubins, AFrameWithACubinThatIsCutIsADamagedImage) {
  const std::string cubin = build::CubinBytes({});
  const FileImages file = Deep("x" + build::Zstd(cubin.substr(0, cubin.size() - 1)) + "y");
  ASSERT_EQ(file.images.size(), 1u);
  ASSERT_TRUE(file.images[0].damage);
  EXPECT_EQ(file.images[0].damage->offset, 1u);
}

TEST(BareCubins, ADumpIsNoCubin) {
  build::Cubin dump;
  dump.type = ET_CORE;
  EXPECT_THAT(Deep("x" + build::CubinBytes(dump)).images, IsEmpty());
}

// A frame whose first block is whole, with bytes behind it that are no block.
std::string FrameWithoutEnd() {
  const std::string frame = LongFrame();
  size_t size = 0;
  while (ExpandPrefix(Compression::kZstd, ByteView(frame).Clamp(0, size), 64).view().empty())
    ++size;
  return frame.substr(0, size) + "\xFF\xFF\xFF";
}

TEST(BareCubins, FramesWithoutAnEndAreFollowedAFewTimesOnly) {
  const std::string frame = FrameWithoutEnd();
  std::string bytes = "x";
  for (int i = 0; i < 300; ++i) bytes += frame;
  const FileImages file = Deep(bytes);
  EXPECT_TRUE(file.listing_stopped);
  EXPECT_EQ(file.damage.size(), 64u);
}

TEST(BareCubins, AFileOfFrameMagicsCostsNoTime) {
  std::string bytes = "x";
  while (bytes.size() < 400'000) bytes += "\x28\xB5\x2F\xFD";
  EXPECT_THAT(Deep(bytes).images, IsEmpty());
}

TEST(ReadDeep, ABareCubinOrTextIsAsItWasListed) {
  EXPECT_EQ(Deep(build::CubinBytes({})).images.size(), 1u);
  EXPECT_EQ(Deep(build::PtxText({9, 0}, "sm_90")).images.size(), 1u);
  EXPECT_FALSE(Deep(build::PtxText({9, 0}, "sm_90")).images[0].damage);
}

TEST(ReadModules, ExpandsTheNamedModulesOnly) {
  Entry wrong = Sass({80, 0});
  wrong.arch = {90, 0};
  const std::string bytes = build::SharedObject(Fatbin({wrong}) + Fatbin({wrong, Sass({80, 0})}));
  FileImages file = ListImages(ByteView(bytes));
  ReadModules(ByteView(bytes), file, {1});
  EXPECT_FALSE(file.images[0].damage);
  EXPECT_TRUE(file.images[1].damage);
  EXPECT_FALSE(file.images[2].damage);
  EXPECT_EQ(file.images[0].has_code, std::nullopt);
  EXPECT_EQ(file.images[2].has_code, true);
  EXPECT_FALSE(file.deep);
}

}  // namespace
}  // namespace cuproof
