#include "image/host_object.h"

#include <gtest/gtest.h>

#include <string>

#include "build_fatbin.h"

namespace cuproof {
namespace {

FileKind Kind(const std::string& bytes) { return DetectFileKind(ByteView(bytes)); }

TEST(DetectFileKind, TellsByTheFirstBytes) {
  EXPECT_EQ(Kind(build::HostElfBytes({})), FileKind::kElf);
  EXPECT_EQ(Kind(build::PeBytes({})), FileKind::kPe);
  EXPECT_EQ(Kind(build::Archive({})), FileKind::kArchive);
  EXPECT_EQ(Kind("!<thin>\n"), FileKind::kArchive);
  EXPECT_EQ(Kind(build::Fatbin({})), FileKind::kFatbin);
  EXPECT_EQ(Kind(build::CubinBytes({})), FileKind::kCubin);
  EXPECT_EQ(Kind(build::PtxText({9, 0}, "sm_90")), FileKind::kPtx);
  EXPECT_EQ(Kind("PK\x03\x04 and more"), FileKind::kZip);
  EXPECT_EQ(Kind("PK\x05\x06 an empty one"), FileKind::kZip);
  EXPECT_EQ(Kind("words"), FileKind::kData);
  EXPECT_EQ(Kind(""), FileKind::kData);
}

TEST(DetectFileKind, ADumpOfAGpuIsNoCubin) {
  build::Cubin dump;
  dump.type = ET_CORE;
  EXPECT_EQ(Kind(build::CubinBytes(dump)), FileKind::kCoreDump);
}

TEST(DetectFileKind, FewBytesAreEnoughOrData) {
  EXPECT_EQ(Kind("\x7F"
                 "ELF"),
            FileKind::kElf);
  EXPECT_EQ(Kind("\x50\xED\x55\xBA"), FileKind::kFatbin);
  EXPECT_EQ(Kind("\x50\xED\x55"), FileKind::kData);
  EXPECT_EQ(Kind("MZ"), FileKind::kPe);
  EXPECT_EQ(Kind("!<arch>"), FileKind::kData);
}

TEST(FileKindName, IsAWordForPeople) {
  EXPECT_STREQ(FileKindName(FileKind::kElf), "ELF");
  EXPECT_STREQ(FileKindName(FileKind::kCoreDump), "GPU core dump");
  EXPECT_STREQ(FileKindName(FileKind::kData), "data");
}

TEST(ReadHostObject, RangesAreSortedAndDoNotOverlap) {
  build::HostElf elf;
  elf.sections = {{".first", SHT_PROGBITS, std::string(100, 'x')},
                  {".second", SHT_PROGBITS, std::string(100, 'y')},
                  {".empty", SHT_PROGBITS, ""}};
  // Two that claim bytes of the others.
  build::Section inside = {".inside", SHT_PROGBITS, "z"};
  inside.offset = 64 + 2 * 56 + 8;
  inside.size = 4;
  build::Section over = {".over", SHT_PROGBITS, "z"};
  over.offset = 300;
  over.size = 150;
  elf.sections.push_back(over);
  elf.sections.push_back(inside);
  const std::string bytes = build::HostElfBytes(elf);
  const HostObject host = ReadHostObject(FileKind::kElf, ByteView(bytes));
  uint64_t end = 0;
  for (const NamedRange& range : host.ranges) {
    EXPECT_GE(range.offset, end) << range.name;
    EXPECT_GT(range.size, 0u) << range.name;
    end = range.offset + range.size;
  }
}

TEST(ReadHostObject, OtherKindsHaveNoHostSide) {
  const std::string bytes = build::HostElfBytes(build::HostElf{});
  EXPECT_EQ(ReadHostObject(FileKind::kData, ByteView(bytes)).machine, "");
  EXPECT_EQ(ReadHostObject(FileKind::kFatbin, ByteView(bytes)).machine, "");
}

TEST(RangeAt, FindsTheRangeThatHoldsAByte) {
  const std::vector<NamedRange> ranges = {{10, 5, "a"}, {15, 5, "b"}, {30, 1, "c"}};
  EXPECT_EQ(RangeAt(ranges, 9), "");
  EXPECT_EQ(RangeAt(ranges, 10), "a");
  EXPECT_EQ(RangeAt(ranges, 14), "a");
  EXPECT_EQ(RangeAt(ranges, 15), "b");
  EXPECT_EQ(RangeAt(ranges, 20), "");
  EXPECT_EQ(RangeAt(ranges, 30), "c");
  EXPECT_EQ(RangeAt(ranges, 31), "");
  EXPECT_EQ(RangeAt({}, 0), "");
}

TEST(NeededRuntimeMajor, IsThatOfLibcudart) {
  HostObject host;
  EXPECT_EQ(NeededRuntimeMajor(host), 0);
  host.needed = {"libc.so.6", "libcublas.so.12", "libcudart.so.13"};
  EXPECT_EQ(NeededRuntimeMajor(host), 13);
  host.needed = {"libcudart.so.11.0"};
  EXPECT_EQ(NeededRuntimeMajor(host), 11);
  host.needed = {"libcudart.so"};
  EXPECT_EQ(NeededRuntimeMajor(host), 0);
  host.needed = {"libcudart.so.x", "mylibcudart.so.12", ""};
  EXPECT_EQ(NeededRuntimeMajor(host), 0);
  // As auditwheel renames it.
  host.needed = {"libcudart-1b2c3d4e.so.12.4.127"};
  EXPECT_EQ(NeededRuntimeMajor(host), 0);
}

}  // namespace
}  // namespace cuproof
