#include "image/ptx.h"

#include <gtest/gtest.h>

#include <string>

#include "build_fatbin.h"

namespace cuproof {
namespace {

PtxHeader Read(std::string_view text) {
  const auto header = ReadPtxHeader(ByteView(text));
  EXPECT_TRUE(header) << header.error().Text();
  return header ? *header : PtxHeader{};
}

std::string Problem(std::string_view text) {
  const auto damage = CheckPtxText(ByteView(text));
  return damage ? damage->phrase : "";
}

void ExpectNinetyA(std::string_view text) {
  const PtxHeader header = Read(text);
  EXPECT_EQ(header.isa, (Version{8, 4})) << text;
  EXPECT_EQ(header.target, (Arch{90, 'a'})) << text;
  EXPECT_EQ(header.address_size, 64u) << text;
  EXPECT_EQ(Problem(text), "") << text;
  EXPECT_TRUE(LooksLikePtx(ByteView(text))) << text;
}

constexpr std::string_view kBody = ".visible .entry k()\n{\n ret;\n}\n";

TEST(Ptx, ATextOfTheCompiler) { ExpectNinetyA(build::PtxText({8, 4}, "sm_90a")); }

TEST(Ptx, BlankLinesAndCommentsBeforeTheDirectives) {
  ExpectNinetyA(
      "\n\n\t // a comment with .version 9.9\n/* .target sm_100\n * } */ /**/.version 8.4\n"
      "// between\n.target sm_90a /* here */\n.address_size 64\n");
}

TEST(Ptx, LinesThatEndInCrLf) {
  ExpectNinetyA("\r\n.version 8.4\r\n.target sm_90a\r\n.address_size 64\r\n{\r\n}\r\n");
}

TEST(Ptx, AllInOneLine) {
  ExpectNinetyA(".version 8.4 .target sm_90a .address_size 64 .visible .entry k() { ret; }");
}

TEST(Ptx, NulPadding) { ExpectNinetyA(build::PtxText({8, 4}, "sm_90a") + std::string(7, '\0')); }

TEST(Ptx, TargetOptionsAreSkipped) {
  ExpectNinetyA(".version 8.4\n.target sm_90a, texmode_independent, debug\n.address_size 64\n");
  ExpectNinetyA(".version 8.4 .target sm_90a,debug .address_size 64\n");
}

// r580 takes it, though the manual has sm_ only.
TEST(Ptx, TheTargetMayBeWrittenAsCompute) {
  ExpectNinetyA(".version 8.4\n.target compute_90a\n.address_size 64\n");
}

TEST(Ptx, SuffixesOfTargets) {
  EXPECT_EQ(Read(".version 8.8\n.target sm_100f\n").target, (Arch{100, 'f'}));
  EXPECT_EQ(Read(".version 8.8\n.target sm_103\n").target, (Arch{103, 0}));
  EXPECT_EQ(Read(".version 8.8\n.target sm_90b\n").target, (Arch{90, 0}));
}

TEST(Ptx, VersionsAreTwoNumbers) {
  EXPECT_EQ(Read(".version 9.10\n.target sm_90\n").isa, (Version{9, 10}));
  EXPECT_EQ(Read(".version 10.0\n.target sm_90\n").isa, (Version{10, 0}));
}

TEST(Ptx, AddressSizeIsOptional) {
  EXPECT_EQ(Read(".version 8.0\n.target sm_80\n.visible .entry k()").address_size, 0u);
  EXPECT_EQ(Read(".version 8.0\n.target sm_80").address_size, 0u);
}

TEST(Ptx, AByteOrderMarkIsNoPtx) {
  const std::string text = "\xEF\xBB\xBF" + build::PtxText({8, 0}, "sm_80");
  EXPECT_FALSE(LooksLikePtx(ByteView(text)));
  EXPECT_FALSE(ReadPtxHeader(ByteView(text)));
}

TEST(Ptx, OtherTextsAreNoPtx) {
  for (const char* text : {"", "\n\n", "// only a comment", "/* without an end", "hello",
                           ".target sm_90\n.version 8.0\n", "version 8.0", "# .version 8.0"}) {
    EXPECT_FALSE(LooksLikePtx(ByteView(text))) << text;
    EXPECT_FALSE(ReadPtxHeader(ByteView(text))) << text;
  }
  const std::string zeros(64, '\0');
  EXPECT_FALSE(LooksLikePtx(ByteView(zeros)));
}

// Assembler sources of old compilers open with a directive of the same name.
TEST(Ptx, AVersionInQuotesIsAnAssemblerSource) {
  EXPECT_FALSE(LooksLikePtx(ByteView("\t.file\t\"a.c\"\n\t.version\t\"01.01\"\n")));
  EXPECT_FALSE(LooksLikePtx(ByteView("\t.version\t\"01.01\"\n")));
}

TEST(Ptx, DirectivesThatAreWrongSayWhatWasExpected) {
  const std::pair<const char*, const char*> cases[] = {
      {".version eight\n.target sm_90", "expected a PTX ISA version such as 9.0 behind .version"},
      {".version 8\n.target sm_90", "expected a PTX ISA version such as 9.0 behind .version"},
      {".version 8.x\n", "expected a PTX ISA version such as 9.0 behind .version"},
      {".version 99999.0\n", "expected a PTX ISA version such as 9.0 behind .version"},
      {".version", "expected a PTX ISA version such as 9.0 behind .version"},
      {".version 8.0", "expected .target sm_NN behind .version"},
      {".version 8.0\n.target", "expected .target sm_NN behind .version"},
      {".version 8.0\n.target sm_", "expected .target sm_NN behind .version"},
      {".version 8.0\n.target sm_99999999999", "expected .target sm_NN behind .version"},
      {".version 8.0\n.address_size 64\n", "expected .target sm_NN behind .version"}};
  for (const auto& [text, phrase] : cases) {
    const auto header = ReadPtxHeader(ByteView(text));
    ASSERT_FALSE(header) << text;
    EXPECT_EQ(header.error().phrase, phrase) << text;
    EXPECT_EQ(header.error().code, ErrorCode::kBadMagic);
  }
}

TEST(Ptx, ATextThatDoesNotStartWithin64KilobytesIsSomethingElse) {
  const std::string blanks(70'000, '\n');
  EXPECT_FALSE(LooksLikePtx(ByteView(blanks + build::PtxText({8, 0}, "sm_80"))));
  const std::string comment = "/*" + std::string(60'000, '*') + "*/";
  EXPECT_TRUE(LooksLikePtx(ByteView(comment + build::PtxText({8, 0}, "sm_80"))));
}

TEST(CheckPtxText, BracesMustClose) {
  const std::string head = ".version 8.0\n.target sm_80\n";
  const std::string open = "the PTX text ends inside a block: it is cut short";
  EXPECT_EQ(Problem(head + std::string(kBody)), "");
  EXPECT_EQ(Problem(head + ".entry k() {"), open);
  EXPECT_EQ(Problem(head + ".entry k() { { ret; }"), open);
  EXPECT_EQ(Problem(head + ".entry k() { ret; } }"), "");
}

TEST(CheckPtxText, BracesInStringsAndCommentsDoNotCount) {
  const std::string head = ".version 8.0\n.target sm_80\n";
  EXPECT_EQ(Problem(head + ".file 1 \"a{b.cu\"\n// {\n/* { */ .entry k() { /* } */ ret; }"), "");
  EXPECT_EQ(Problem(head + ".entry k() { /*a*//*b*/ ret; /*c*//*d*/ }"), "");
  EXPECT_EQ(Problem(head + ".entry k() { // }"),
            "the PTX text ends inside a block: it is cut short");
  EXPECT_EQ(Problem(head + ".entry k() { \"}"),
            "the PTX text ends inside a block: it is cut short");
}

TEST(CheckPtxText, ANulInsideIsDamageAndNamesItsPlace) {
  std::string text = build::PtxText({8, 0}, "sm_80");
  const size_t at = text.find("ret;");
  text[at] = '\0';
  const auto damage = CheckPtxText(ByteView(text));
  ASSERT_TRUE(damage);
  EXPECT_EQ(damage->phrase, "a NUL byte inside the PTX text");
  EXPECT_EQ(damage->offset, at);
}

// r580: error 218.
TEST(CheckPtxText, ThirtyTwoBitAddressesAreRefused) {
  const char* refused = "PTX with .address_size 32, which 64-bit drivers refuse";
  EXPECT_EQ(Problem(build::PtxText({8, 0}, "sm_80", 32)), refused);
  EXPECT_EQ(Problem(".version 8.0 .target sm_80 .address_size 32 .entry k() { }"), refused);
}

TEST(PtxHasCode, NeedsAnEntryOrAFunction) {
  EXPECT_TRUE(PtxHasCode(ByteView(build::PtxText({8, 0}, "sm_80"))));
  EXPECT_TRUE(PtxHasCode(ByteView(".visible .func f() { ret; }")));
  EXPECT_FALSE(PtxHasCode(ByteView(".version 8.0\n.target sm_80\n.address_size 64\n")));
}

}  // namespace
}  // namespace cuproof
