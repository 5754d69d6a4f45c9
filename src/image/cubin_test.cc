#include "image/cubin.h"

#include <gtest/gtest.h>

#include <string>

#include "build_fatbin.h"

namespace cuproof {
namespace {

using build::Cubin;

CubinInfo Read(const std::string& bytes, bool whole = true) {
  const auto info = ReadCubin(ByteView(bytes), whole);
  EXPECT_TRUE(info) << info.error().Text();
  return info ? *info : CubinInfo{};
}

CubinInfo Read(const Cubin& cubin) { return Read(build::CubinBytes(cubin)); }

TEST(Cubin, Abi7HasArchAndToolkitInItsHeader) {
  Cubin cubin;
  cubin.abi = 7;
  for (const uint32_t sm : {50u, 75u, 89u, 90u, 103u, 121u}) {
    cubin.arch = {sm, 0};
    cubin.toolkit = {12, 6};
    const CubinInfo info = Read(cubin);
    EXPECT_EQ(info.abi, 7);
    EXPECT_EQ(info.sm, sm);
    EXPECT_EQ(info.toolkit, (Version{12, 6}));
    EXPECT_EQ(info.suffix_a, false);
    EXPECT_FALSE(info.suffix_f);
    EXPECT_FALSE(info.relocatable);
    EXPECT_FALSE(info.core_dump);
    EXPECT_TRUE(info.has_code);
  }
}

TEST(Cubin, Abi7ToolkitsFromElevenFiveToThirteen) {
  Cubin cubin;
  cubin.abi = 7;
  for (const Version toolkit : {Version{11, 5}, Version{11, 8}, Version{12, 9}, Version{13, 0}}) {
    cubin.toolkit = toolkit;
    EXPECT_EQ(Read(cubin).toolkit, toolkit);
  }
}

TEST(Cubin, Abi8HasTheArchInItsHeaderAndTheToolkitInNotes) {
  Cubin cubin;
  for (const uint32_t sm : {75u, 86u, 90u, 100u, 120u}) {
    cubin.arch = {sm, 0};
    cubin.toolkit = {13, 1};
    const CubinInfo info = Read(cubin);
    EXPECT_EQ(info.abi, 8);
    EXPECT_EQ(info.sm, sm);
    EXPECT_EQ(info.toolkit, (Version{13, 1}));
  }
}

TEST(Cubin, TheToolkitComesFromCuinfoBeforeTkinfo) {
  using build::CuInfoNote;
  using build::TkInfoNote;
  Cubin cubin;
  cubin.notes = false;
  EXPECT_FALSE(Read(cubin).toolkit.known());
  cubin.sections = {{".note.nv.tkinfo", SHT_NOTE, TkInfoNote({12, 9}, "-arch sm_90")}};
  EXPECT_EQ(Read(cubin).toolkit, (Version{12, 9}));
  cubin.sections.push_back({".note.nv.cuinfo", SHT_NOTE, CuInfoNote(90, {13, 0})});
  EXPECT_EQ(Read(cubin).toolkit, (Version{13, 0}));
  std::swap(cubin.sections[0], cubin.sections[1]);
  EXPECT_EQ(Read(cubin).toolkit, (Version{13, 0}));
}

TEST(Cubin, NotesThatCannotBeTrueTellNothing) {
  Cubin cubin;
  cubin.notes = false;
  const std::string note = build::CuInfoNote(90, {13, 0});
  // The body's size, the vendor's size, a toolkit of 65,535 tenths.
  for (const auto& [at, value] : {std::pair(4, 2), std::pair(0, 11), std::pair(28, 65'535)}) {
    const std::string bad = build::Patched(note, static_cast<size_t>(at),
                                           build::Number(static_cast<uint64_t>(value), 4));
    cubin.sections = {{".note.nv.cuinfo", SHT_NOTE, bad}};
    EXPECT_FALSE(Read(cubin).toolkit.known()) << at;
  }
  for (size_t size = 0; size < note.size(); ++size) {
    cubin.sections = {{".note.nv.cuinfo", SHT_NOTE, note.substr(0, size)}};
    (void)Read(cubin);
  }
}

TEST(Cubin, ManyNotesThatClaimEachOthersBytesAreReadOnce) {
  std::string notes;
  while (notes.size() < 400'000) {
    notes += build::Patched(build::TkInfoNote({0, 0}, ""), 4, build::Number(UINT32_MAX, 4));
  }
  Cubin cubin;
  cubin.notes = false;
  cubin.sections = {{".note.nv.tkinfo", SHT_NOTE, notes}};
  EXPECT_FALSE(Read(cubin).toolkit.known());
}

TEST(Cubin, SuffixAOfAbi7StandsInItsFlags) {
  Cubin cubin;
  cubin.abi = 7;
  cubin.toolkit = {12, 4};
  cubin.flag_a = true;
  EXPECT_EQ(Read(cubin).suffix_a, true);
  EXPECT_EQ(Read(cubin).sm, 90u);
}

TEST(Cubin, SuffixAOfCuda12Abi8StandsInItsFlags) {
  Cubin cubin;
  cubin.arch = {120, 0};
  cubin.toolkit = {12, 9};
  cubin.flag_a = true;
  EXPECT_EQ(Read(cubin).suffix_a, true);
  EXPECT_EQ(Read(cubin).sm, 120u);
}

TEST(Cubin, SuffixAOfCuda13StandsInItsCompatSection) {
  Cubin cubin;
  cubin.notes = false;
  cubin.compat_a = 1;
  EXPECT_EQ(Read(cubin).suffix_a, true);
  cubin.compat_a = 0;
  EXPECT_EQ(Read(cubin).suffix_a, false);
}

TEST(Cubin, ACompatSectionWithoutTheAttributeTellsNothing) {
  Cubin cubin;
  cubin.notes = false;
  const auto read = [&](const std::string& section) {
    cubin.sections = {{".nv.compat", 0x70000086, section}};
    return Read(cubin).suffix_a;
  };
  using namespace std::string_literals;
  EXPECT_EQ(read(""), std::nullopt);
  EXPECT_EQ(read("\x02\x02\x01\x00\x02\x05\x05\x00"s), std::nullopt);
  // An item of a format that we do not know ends the reading.
  EXPECT_EQ(read("\x07\x02\x01\x00\x02\x09\x01\x00"s), std::nullopt);
  // A payload that is longer than the section.
  EXPECT_EQ(read("\x04\x0B\xFF\xFF\x02\x09\x01\x00"s), std::nullopt);
}

TEST(Cubin, TheCommandLineInANoteTellsTheSuffixes) {
  Cubin cubin;
  cubin.arch = {100, 'f'};
  EXPECT_TRUE(Read(cubin).suffix_f);
  EXPECT_EQ(Read(cubin).suffix_a, std::nullopt);
  cubin.arch = {90, 'a'};
  EXPECT_FALSE(Read(cubin).suffix_f);
  EXPECT_EQ(Read(cubin).suffix_a, true);
  cubin.arch = {90, 0};
  EXPECT_FALSE(Read(cubin).suffix_f);
  EXPECT_EQ(Read(cubin).suffix_a, std::nullopt);
}

TEST(Cubin, OddCommandLinesOfLibraryBuildsTellNothing) {
  Cubin cubin;
  cubin.notes = false;
  for (const char* line : {"-arch SM75 -novl", "-arch ", "", "-arch sm_", "-maxrregcount 32"}) {
    cubin.sections = {{".note.nv.tkinfo", SHT_NOTE, build::TkInfoNote({13, 0}, line)}};
    EXPECT_EQ(Read(cubin).suffix_a, std::nullopt) << line;
    EXPECT_FALSE(Read(cubin).suffix_f) << line;
    EXPECT_EQ(Read(cubin).toolkit, (Version{13, 0})) << line;
  }
}

TEST(Cubin, TypesOfElf) {
  Cubin cubin;
  cubin.type = ET_REL;
  EXPECT_TRUE(Read(cubin).relocatable);
  cubin.type = ET_CORE;
  EXPECT_TRUE(Read(cubin).core_dump);
}

TEST(Cubin, OneWithoutInstructionsHasNoCode) {
  Cubin cubin;
  cubin.code = false;
  EXPECT_FALSE(Read(cubin).has_code);
  cubin.sections = {{".nv.global.init", SHT_PROGBITS, "data", SHF_ALLOC}};
  EXPECT_FALSE(Read(cubin).has_code);
}

// NCCL of CUDA 13.0 holds cubins of a -G build with such a section past their end.
TEST(Cubin, SectionsWithASizeAndNoBytesAreNoDamage) {
  Cubin cubin;
  build::Section shared = {".nv_debug.shared", 0x7000000A};
  shared.size = 1 << 20;
  build::Section nobits = {".nv.shared.probe", SHT_NOBITS};
  nobits.size = 1 << 20;
  cubin.sections = {shared, nobits};
  EXPECT_TRUE(Read(cubin).has_code);
}

TEST(Cubin, SectionsThatMustHaveBytesAreDamageWhenTheyLieOutside) {
  for (const uint32_t type : {uint32_t{SHT_PROGBITS}, uint32_t{SHT_SYMTAB}, uint32_t{SHT_STRTAB},
                              uint32_t{SHT_NOTE}, 0x70000000u}) {
    Cubin cubin;
    build::Section section = {".section", type, "bytes"};
    section.size = uint64_t{1} << 40;
    cubin.sections = {section};
    const std::string bytes = build::CubinBytes(cubin);
    const auto info = ReadCubin(ByteView(bytes), true);
    ASSERT_FALSE(info) << type;
    EXPECT_EQ(info.error().code, ErrorCode::kTruncated);
    section.size.reset();
    section.offset = UINT64_MAX;
    cubin.sections = {section};
    EXPECT_FALSE(ReadCubin(ByteView(build::CubinBytes(cubin)), true)) << type;
  }
}

TEST(Cubin, ItsFirstPartIsEnoughForAllButItsSections) {
  Cubin cubin;
  cubin.arch = {100, 'f'};
  cubin.sections = {{".text.other", SHT_PROGBITS, build::Noise(4096)}};
  const std::string bytes = build::CubinBytes(cubin);
  const CubinInfo info = Read(bytes.substr(0, 1024), false);
  EXPECT_EQ(info.sm, 100u);
  EXPECT_EQ(info.toolkit, (Version{13, 0}));
  EXPECT_TRUE(info.suffix_f);
  EXPECT_FALSE(ReadCubin(ByteView(bytes).Clamp(0, 1024), true));
}

TEST(Cubin, AnAbiThatWeDoNotKnowIsUnsupportedNotGuessed) {
  Cubin cubin;
  const std::string bytes = build::Patched(build::CubinBytes(cubin), EI_OSABI, "\x42");
  const auto info = ReadCubin(ByteView(bytes), true);
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(info.error().offset, 7u);
}

TEST(Cubin, OtherFilesAreNoCubin) {
  const std::string host = build::HostElfBytes({});
  EXPECT_FALSE(LooksLikeCubin(ByteView(host)));
  EXPECT_EQ(ReadCubin(ByteView(host), false).error().code, ErrorCode::kBadMagic);
  EXPECT_FALSE(LooksLikeCubin(ByteView()));
  const std::string cubin = build::CubinBytes({});
  EXPECT_TRUE(LooksLikeCubin(ByteView(cubin)));
  EXPECT_FALSE(LooksLikeCubin(ByteView(cubin).Clamp(0, 19)));
  EXPECT_FALSE(LooksLikeCubin(ByteView(build::Patched(cubin, 4, "\x01"))));  // 32-bit
  EXPECT_FALSE(LooksLikeCubin(ByteView(build::Patched(cubin, 5, "\x02"))));  // big-endian
}

TEST(Cubin, SectionHeadersOfAnotherSizeAreDamage) {
  const std::string bytes = build::Patched(build::CubinBytes({}), 0x3A, build::Number(40, 2));
  const auto info = ReadCubin(ByteView(bytes), true);
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().offset, 0x3Au);
}

TEST(CubinExtent, EndsBehindTheSectionTable) {
  const std::string bytes = build::CubinBytes({});
  EXPECT_EQ(CubinExtent(ByteView(bytes + build::Noise(100))), bytes.size());
}

TEST(CubinExtent, OfAnImageThatIsCutIsWhatIsThere) {
  const std::string bytes = build::CubinBytes({});
  EXPECT_EQ(CubinExtent(ByteView(bytes).Clamp(0, 100)), 100u);
  EXPECT_EQ(CubinExtent(ByteView(bytes).Clamp(0, 10)), 0u);
  for (const uint64_t at : {UINT64_MAX, UINT64_MAX - 64, uint64_t{1} << 40}) {
    const std::string bad = build::Patched(bytes, 0x28, build::Number(at, 8));
    EXPECT_EQ(CubinExtent(ByteView(bad)), bad.size()) << at;
  }
}

}  // namespace
}  // namespace cuproof
