#include "image/file_images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "build_fatbin.h"

namespace cuproof {
namespace {

using build::Compressed;
using build::Fatbin;
using build::Ptx;
using build::Sass;
using testing::ElementsAre;
using testing::IsEmpty;

FileImages List(const std::string& bytes) { return ListImages(ByteView(bytes)); }

std::vector<std::string> Targets(const FileImages& file) {
  std::vector<std::string> targets;
  for (const Image& image : file.images) targets.push_back(ImageTarget(image));
  return targets;
}

std::vector<std::string> Toolkits(const std::string& bytes) {
  FileImages file = List(bytes);
  ReadToolkits(ByteView(bytes), file);
  std::vector<std::string> toolkits;
  for (const Image& image : file.images) toolkits.push_back(VersionText(image.toolkit));
  return toolkits;
}

TEST(ListImages, ASharedObjectsContainersWithTheirSections) {
  const std::string fatbins =
      Fatbin({Sass({80, 0}), Ptx({80, 0}, {9, 0})}) + Fatbin({Sass({90, 'a'})});
  const std::string bytes = build::SharedObject(fatbins);
  const FileImages file = List(bytes);
  EXPECT_EQ(file.kind, FileKind::kElf);
  EXPECT_EQ(file.size, bytes.size());
  EXPECT_EQ(file.host.machine, "x86-64");
  EXPECT_TRUE(file.host.registers_fatbin);
  EXPECT_THAT(Targets(file), ElementsAre("sm_80", "compute_80", "sm_90a"));
  ASSERT_EQ(file.modules.size(), 2u);
  EXPECT_EQ(file.modules[0].section, ".nv_fatbin");
  EXPECT_EQ(file.modules[0].first_image, 0u);
  EXPECT_EQ(file.modules[0].image_count, 2u);
  EXPECT_EQ(file.modules[1].first_image, 2u);
  EXPECT_EQ(file.modules[1].offset, file.modules[0].offset + file.modules[0].size);
  EXPECT_EQ(file.images[2].module, 1u);
  EXPECT_FALSE(file.deep);
  EXPECT_THAT(file.damage, IsEmpty());
}

// cuFFT keeps 23,983 containers in .ldata, CUPTI has some in .data: sections are told, not trusted.
TEST(ListImages, ContainersInAnySectionOrNone) {
  build::HostElf elf;
  elf.sections = {{".ldata", SHT_PROGBITS, "x" + Fatbin({Sass({75, 0})})},
                  {"__nv_relfatbin", SHT_PROGBITS, Fatbin({Sass({80, 0})})}};
  FileImages file = List(build::HostElfBytes(elf) + Fatbin({Sass({90, 0})}));
  EXPECT_THAT(Targets(file), ElementsAre("sm_75", "sm_80", "sm_90"));
  EXPECT_EQ(file.modules[0].section, ".ldata");
  EXPECT_EQ(file.modules[1].section, "__nv_relfatbin");
  EXPECT_EQ(file.modules[2].section, "");
  elf.section_table = false;
  file = List(build::HostElfBytes(elf));
  EXPECT_THAT(Targets(file), ElementsAre("sm_75", "sm_80"));
  EXPECT_EQ(file.modules[0].section, "");
}

TEST(ListImages, AWindowsFile) {
  const FileImages file = List(build::PeBytes({{".nv_fatbin", Fatbin({Sass({86, 0})})}}));
  EXPECT_THAT(Targets(file), ElementsAre("sm_86"));
  EXPECT_EQ(file.modules[0].section, ".nv_fatb");
}

TEST(ListImages, AnArchiveTellsTheMember) {
  const std::string object = build::SharedObject(Fatbin({Sass({86, 0})}));
  const FileImages file = List(build::Archive({{"odd", "x"}, {"kernels.o", object}}));
  EXPECT_EQ(file.kind, FileKind::kArchive);
  EXPECT_THAT(Targets(file), ElementsAre("sm_86"));
  EXPECT_EQ(file.modules[0].section, "kernels.o");
}

TEST(ListImages, AFatbinFileAndAnythingThatHoldsOne) {
  EXPECT_EQ(List(Fatbin({Sass({90, 0})})).kind, FileKind::kFatbin);
  const FileImages file = List("some resource file " + Fatbin({Sass({90, 0})}) + " goes on");
  EXPECT_EQ(file.kind, FileKind::kData);
  EXPECT_THAT(Targets(file), ElementsAre("sm_90"));
}

TEST(ListImages, AFileThatStartsLikeAFatbinAndIsNoneIsDamaged) {
  for (const std::string& bytes : {std::string("\x50\xED\x55\xBA"), Fatbin({Sass({90, 0})}, {2}),
                                   "\x50\xED\x55\xBA" + Fatbin({Sass({90, 0})})}) {
    const FileImages file = List(bytes);
    EXPECT_EQ(file.kind, FileKind::kFatbin);
    ASSERT_EQ(file.damage.size(), 1u);
    EXPECT_EQ(file.damage[0].offset, 0u);
  }
}

TEST(ListImages, ABareCubinWithAllThatItSays) {
  build::Cubin cubin;
  cubin.arch = {100, 'f'};
  const std::string bytes = build::CubinBytes(cubin);
  const FileImages file = List(bytes);
  EXPECT_EQ(file.kind, FileKind::kCubin);
  ASSERT_EQ(file.images.size(), 1u);
  const Image& image = file.images[0];
  EXPECT_EQ(image.arch, (Arch{100, 'f'}));
  EXPECT_EQ(image.version, (Version{1, 8}));
  EXPECT_EQ(image.toolkit, (Version{13, 0}));
  EXPECT_EQ(image.stored_size, bytes.size());
  EXPECT_EQ(image.raw_kind, 0);
  EXPECT_EQ(image.has_code, true);
  EXPECT_EQ(file.modules[0].kind, ModuleKind::kCubin);
}

TEST(ListImages, ABareCubinThatIsCutKeepsWhatItsHeaderSays) {
  const std::string bytes = build::CubinBytes({});
  const FileImages file = List(bytes.substr(0, bytes.size() / 2));
  ASSERT_EQ(file.images.size(), 1u);
  EXPECT_EQ(file.images[0].arch, (Arch{90, 0}));
  EXPECT_TRUE(file.images[0].damage);
}

TEST(ListImages, ABarePtxText) {
  const FileImages file = List(build::PtxText({8, 8}, "sm_100f"));
  ASSERT_EQ(file.images.size(), 1u);
  EXPECT_EQ(file.images[0].arch, (Arch{100, 'f'}));
  EXPECT_EQ(file.images[0].version, (Version{8, 8}));
  EXPECT_EQ(file.modules[0].kind, ModuleKind::kPtx);
  EXPECT_FALSE(file.images[0].damage);
}

TEST(ListImages, ABarePtxTextThatIsWrongIsDamaged) {
  EXPECT_TRUE(List(".version 8.0\n.target sm_80\n.entry k() {").images[0].damage);
  EXPECT_TRUE(List(".version 8.0\n.entry k() { }").images[0].damage);
  EXPECT_TRUE(List(build::PtxText({8, 0}, "sm_80", 32)).images[0].damage);
}

TEST(ListImages, ZipsAndDumpsAreReadElsewhere) {
  EXPECT_THAT(List("PK\x03\x04" + Fatbin({Sass({90, 0})})).modules, IsEmpty());
  build::Cubin dump;
  dump.type = ET_CORE;
  const FileImages file = List(build::CubinBytes(dump));
  EXPECT_EQ(file.kind, FileKind::kCoreDump);
  EXPECT_THAT(file.modules, IsEmpty());
}

TEST(ListImages, FilesWithNothingForAGpu) {
  EXPECT_THAT(List("").modules, IsEmpty());
  EXPECT_THAT(List("some words").modules, IsEmpty());
  EXPECT_THAT(List(build::HostElfBytes({})).modules, IsEmpty());
  EXPECT_THAT(List(build::Noise(5000)).modules, IsEmpty());
}

TEST(ListImages, ADamagedContainerKeepsItsWholeEntriesAndTheNextOneIsFound) {
  build::Entry lie = Sass({90, 0});
  lie.payload_size = UINT64_MAX;
  const FileImages file = List("x" + Fatbin({Sass({80, 0}), lie}) + Fatbin({Sass({86, 0})}));
  EXPECT_THAT(Targets(file), ElementsAre("sm_80", "sm_86"));
  ASSERT_EQ(file.modules.size(), 2u);
  EXPECT_TRUE(file.modules[0].damaged);
  EXPECT_FALSE(file.modules[1].damaged);
  EXPECT_EQ(file.damage.size(), 1u);
}

TEST(ListImages, StopsAtMoreModulesThanAnyLibraryHas) {
  const std::string container = Fatbin({});
  std::string bytes;
  bytes.reserve((kMaxModules + 3) * container.size());
  for (size_t i = 0; i < kMaxModules; ++i) bytes += container;
  FileImages file = List(bytes);
  EXPECT_EQ(file.modules.size(), kMaxModules);
  EXPECT_FALSE(file.listing_stopped);
  bytes += container;
  file = List(bytes);
  EXPECT_EQ(file.modules.size(), kMaxModules);
  EXPECT_TRUE(file.listing_stopped);
}

TEST(ReadToolkits, OfEachArchitectureFromOneOfItsCubins) {
  EXPECT_THAT(Toolkits(Fatbin({Sass({80, 0}, {13, 0}), Sass({90, 'a'}, {13, 1}),
                               Sass({80, 0}, {13, 0}), Ptx({90, 0}, {9, 0})})),
              ElementsAre("13.0", "13.1", "13.0", "unknown"));
}

TEST(ReadToolkits, OfCompressedCubins) {
  EXPECT_THAT(Toolkits(Fatbin({Compressed(Sass({80, 0}, {12, 6}), Compression::kZstd),
                               Compressed(Sass({90, 0}, {13, 1}), Compression::kLz4Block)})),
              ElementsAre("12.6", "13.1"));
}

// A device link leaves stubs without notes.
TEST(ReadToolkits, WhenTheSmallestCubinsAreSilent) {
  build::Cubin silent;
  silent.notes = false;
  build::Entry stub = Sass({90, 0});
  stub.payload = build::CubinBytes(silent);
  build::Entry cut = stub;
  cut.payload.resize(40);
  EXPECT_THAT(Toolkits(Fatbin({stub, Sass({90, 0}, {13, 1})})), ElementsAre("13.1", "13.1"));
  EXPECT_THAT(Toolkits(Fatbin({cut, stub, Sass({90, 0}, {13, 1})})),
              ElementsAre("13.1", "13.1", "13.1"));
  EXPECT_THAT(Toolkits(Fatbin({stub})), ElementsAre("unknown"));
}

TEST(ReadToolkits, DamagedImagesAreLeftOut) {
  build::Entry lie = Compressed(Sass({90, 0}), Compression::kZstd);
  lie.stored_size = UINT32_MAX;
  build::Entry frame = Compressed(Sass({86, 0}), Compression::kLz4Frame);
  EXPECT_THAT(Toolkits(Fatbin({lie, frame})), ElementsAre("unknown", "unknown"));
}

// A hostile file names a new architecture in every entry.
TEST(ReadToolkits, ThousandsOfArchitecturesCostNoTime) {
  std::vector<build::Entry> entries;
  for (uint32_t number = 0; number < 3000; ++number) {
    build::Entry entry = Sass({90, 0});
    entry.arch.number = number;
    entries.push_back(entry);
  }
  EXPECT_EQ(Toolkits(Fatbin(entries)).size(), 3000u);
}

TEST(ListImages, RunsInNoMoreThanLinearTimeOverDecoys) {
  std::string bytes;
  while (bytes.size() < (4 << 20)) bytes += std::string("\x50\xED\x55\xBA\x01\x00", 6);
  EXPECT_THAT(List("x" + bytes).modules, IsEmpty());
}

}  // namespace
}  // namespace cuproof
