#include "resource/source_lines.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "build_fatbin.h"

namespace cuproof {
namespace {

using build::Number;

// As ptxas 13.0 writes it for two files, with one line program.
std::string LineTable(const std::string& program, uint16_t version = 2,
                      const std::string& file = "a.cu", const std::string& folder = "/src") {
  const std::string names = folder + std::string("\0\0", 2) + file + std::string("\0\1\0\0", 4) +
                            std::string("/abs/b.h\0\0\0\0", 12) + '\0';
  const std::string opcodes("\0\1\1\1\1\0\0\0\1", 9);
  const std::string header = Number(1, 1) + Number(1, 1) + Number(0xFB, 1) + Number(14, 1) +
                             Number(10, 1) + opcodes + names;
  const std::string rest = Number(version, 2) + Number(header.size(), 4) + header + program;
  return Number(rest.size(), 4) + rest;
}

std::string SetAddress() { return std::string("\0\x09\x02", 3) + Number(0, 8); }

SourceLine LineOf(const std::string& operations, uint64_t lie = 0, bool addend = true,
                  const char* file = "a.cu", const char* folder = "/src") {
  const std::string program = SetAddress() + operations + std::string("\0\1\1", 3);
  const std::string table = LineTable(program, 2, file, folder);
  build::Cubin cubin;
  cubin.sections = {{".debug_line", SHT_PROGBITS, table},
                    {addend ? ".rela.debug_line" : ".rel.debug_line",
                     static_cast<uint32_t>(addend ? SHT_RELA : SHT_REL),
                     Number(table.size() - program.size() + 3 + lie, 8) +
                         Number(uint64_t{7} << 32 | 2, 8) + (addend ? Number(0, 8) : "")}};
  const std::string bytes = build::CubinBytes(cubin);
  const auto sections = CubinSections::Open(ByteView(bytes));
  if (!sections) return {"not a cubin", 0};
  auto lines = ReadSourceLines(*sections);
  return lines.count(7) ? lines[7] : SourceLine{};
}

TEST(SourceLines, TheFirstRowIsWhereTheFunctionBegins) {
  const SourceLine line = LineOf("\x04\x01\x03\x10\x01\x03\x7f\x01");
  EXPECT_EQ(line.file, "/src/a.cu");
  EXPECT_EQ(line.line, 17u);
}

TEST(SourceLines, BelowSm90TheRelocationsHaveNoAddend) {
  EXPECT_EQ(LineOf("\x04\x01\x03\x10\x01", 0, false).line, 17u);
}

TEST(SourceLines, BytesThatNvccEscapedAreTheFilesOwn) {
  EXPECT_EQ(LineOf("\x03\x10\x01", 0, true, "\\303\\251.cu").file, "/src/\xC3\xA9.cu");
  EXPECT_EQ(LineOf("\x03\x10\x01", 0, true, "\\103\\25").file, "/src/\\103\\25");
}

TEST(SourceLines, ALetterThatNvccCutIntoFolderAndFileIsWhole) {
  EXPECT_EQ(LineOf("\x03\x10\x01", 0, true, "251.cu", "/src/\\303").file, "/src/\xC3\xA9.cu");
  EXPECT_EQ(LineOf("\x03\x10\x01", 0, true, "251.cu", "/src/\\303\\251").file,
            "/src/\xC3\xA9/251.cu");
}

TEST(SourceLines, OfAnotherFileByASpecialOperation) {
  const SourceLine line = LineOf(std::string("\x04\x02\x03\xE4\x00\xF1", 6));
  EXPECT_EQ(line.file, "/abs/b.h");
  EXPECT_EQ(line.line, 103u) << "0xF1 adds two";
}

TEST(SourceLines, NothingWhereTheTableIsDamaged) {
  EXPECT_EQ(LineOf("\x04\x09\x03\x10\x01").line, 0u) << "a file that is not listed";
  EXPECT_EQ(LineOf("\x03\x70\x01").line, 0u) << "a line below 1";
  EXPECT_EQ(LineOf("\x03\x10\x01", 1 << 20).line, 0u) << "a place outside";
  EXPECT_EQ(LineOf("\x04\xFF\xFF\xFF").line, 0u);
}

}  // namespace
}  // namespace cuproof
