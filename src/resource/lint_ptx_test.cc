#include "resource/lint_ptx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuproof {
namespace {

using testing::HasSubstr;

std::string Kernel(const std::string& body) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n\n.visible .entry k(\n\t.param .u64 "
         "p\n)\n{\n" +
         body + "\n\tret;\n}\n";
}

std::vector<PtxLint> Lints(const std::string& body) { return LintPtx(Kernel(body)); }

const char* const kFloats =
    "cvt.f64.f32 %fd1, %f1;\ncvt.f64.f32 %fd2, %f2;\nfma.rn.f64 %fd3, %fd1, 0d3FB999999999999A, "
    "%fd2;\n";

TEST(LintPtx, DoubleBetweenFloatsIsTold) {
  const auto lints = Lints(std::string(kFloats) + "cvt.rn.f32.f64 %f3, %fd3;\nst.f32 [%rd1], %f3;");
  ASSERT_EQ(lints.size(), 1u);
  EXPECT_EQ(lints[0].kind, PtxLintKind::kWideArithmetic);
  EXPECT_EQ(lints[0].function, "k");
  EXPECT_EQ(lints[0].statement, "fma.rn.f64 %fd3, %fd1, 0d3FB999999999999A, %fd2");
  const std::string text =
      Kernel(std::string(kFloats) + "cvt.rn.f32.f64 %f3, %fd3;\nst.f32 [%rd1], %f3;");
  EXPECT_EQ(text.substr(lints[0].offset, 4), "fma.");
}

TEST(LintPtx, DoubleThatIsKeptOrComesFromElsewhereIsNot) {
  EXPECT_TRUE(Lints(std::string(kFloats) + "st.f64 [%rd1], %fd3;").empty());
  EXPECT_TRUE(Lints("ld.f64 %fd2, [%rd1];\ncvt.f64.f32 %fd1, %f1;\n"
                    "fma.rn.f64 %fd3, %fd1, %fd1, %fd2;\ncvt.rn.f32.f64 %f3, %fd3;")
                  .empty());
  // A sum over a loop is written twice.
  EXPECT_TRUE(Lints("mov.f64 %fd3, 0d0000000000000000;\ncvt.f64.f32 %fd1, %f1;\n"
                    "fma.rn.f64 %fd3, %fd1, %fd1, %fd3;\ncvt.rn.f32.f64 %f3, %fd3;")
                  .empty());
}

std::string Shuffle(const std::string& lanes, const std::string& mask, const std::string& behind) {
  return "mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 31;\nsetp.gt.u32 %p1, %r2, " + lanes +
         ";\n@%p1 bra $L1;\nmov.u32 %r6, " + mask +
         ";\nshfl.sync.bfly.b32 %r7|%p2, %r3, 1, 31, %r6;\n$L1:\n" + behind;
}

TEST(LintPtx, AMaskThatNamesLanesThatWentElsewhereIsTold) {
  const auto lints = Lints(Shuffle("7", "65535", "st.u32 [%rd1], %r7;"));
  ASSERT_EQ(lints.size(), 1u);
  EXPECT_EQ(lints[0].kind, PtxLintKind::kGuardedShuffle);
  EXPECT_THAT(lints[0].detail, HasSubstr("0xffff"));
  EXPECT_THAT(lints[0].detail, HasSubstr("0xff"));
  EXPECT_EQ(Lints(Shuffle("15", "-1", "st.u32 [%rd1], %r7;")).size(), 1u);
}

TEST(LintPtx, AMaskOfTheLanesThatComeIsNot) {
  EXPECT_TRUE(Lints(Shuffle("15", "65535", "st.u32 [%rd1], %r7;")).empty());
  EXPECT_TRUE(Lints(Shuffle("15", "255", "st.u32 [%rd1], %r7;")).empty());
  EXPECT_TRUE(Lints(Shuffle("15", "-1", "ret;")).empty()) << "lanes that ended count as there";
  EXPECT_TRUE(Lints(Shuffle("%r9", "255", "st.u32 [%rd1], %r7;")).empty());
}

TEST(LintPtx, AVectorOffItsAlignmentIsTold) {
  const auto lints = Lints(
      ".shared .align 16 .b8 tile[256];\nmov.u64 %rd1, tile;\nadd.s64 %rd2, %rd1, 8;\n"
      "ld.shared.v4.f32 {%f1,%f2,%f3,%f4}, [%rd2+4];");
  ASSERT_EQ(lints.size(), 1u);
  EXPECT_EQ(lints[0].kind, PtxLintKind::kMisalignedVector);
  EXPECT_THAT(lints[0].detail, HasSubstr("tile + 12"));
}

TEST(LintPtx, AVectorThatMayBeAlignedIsNot) {
  const std::string tile = ".shared .align 16 .b8 tile[256];\nmov.u64 %rd1, tile;\n";
  EXPECT_TRUE(Lints(tile + "ld.shared.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1+16];").empty());
  EXPECT_TRUE(
      Lints(tile + "add.s64 %rd2, %rd1, %rd9;\nld.shared.v2.f32 {%f1,%f2}, [%rd2+4];").empty());
  EXPECT_TRUE(
      Lints(".shared .align 4 .b8 tile[256];\nld.shared.v2.f32 {%f1,%f2}, [tile+4];").empty());
}

TEST(LintPtx, ALocalArrayIsToldWhereItsIndexIsNotKnown) {
  const std::string depot =
      ".local .align 4 .b8 __local_depot0[40];\nmov.u64 %SPL, __local_depot0;\nadd.u64 %rd1, %SPL, "
      "0;\n";
  const auto lints = Lints(depot +
                           "add.s64 %rd2, %rd1, %rd9;\nst.local.f32 [%rd2], %f1;\n"
                           "ld.local.f32 %f2, [%rd2+4];");
  ASSERT_EQ(lints.size(), 1u);
  EXPECT_EQ(lints[0].kind, PtxLintKind::kIndexedLocalArray);
  EXPECT_EQ(lints[0].count, 2u);
  EXPECT_EQ(lints[0].detail, "__local_depot0 has 40 bytes a thread");
  EXPECT_TRUE(Lints(depot + "st.local.f32 [%rd1+8], %f1;").empty());
}

TEST(LintPtx, TextThatIsNoPtxIsSilent) {
  EXPECT_TRUE(LintPtx("").empty());
  EXPECT_TRUE(LintPtx("}}}};;;;{{{{@@@:::").empty());
  EXPECT_TRUE(LintPtx(".entry").empty());
  EXPECT_TRUE(LintPtx(".func (.param .b32 r").empty());
  EXPECT_TRUE(LintPtx("/* \" { // ").empty());
  EXPECT_TRUE(LintPtx(std::string(100000, '{')).empty());
}

TEST(LintPtx, DefinitionsThatLeadBackOrFanOutEnd) {
  std::string body = "cvt.f64.f32 %fd0, %f0;\n";
  for (int i = 1; i < 2000; ++i) {
    const std::string before = "%fd" + std::to_string(i - 1);
    body += "fma.rn.f64 %fd" + std::to_string(i) + ", " + before + ", " + before + ", " + before +
            ";\n";
    body += "add.s64 %rd" + std::to_string(i) + ", %rd" + std::to_string(i - 1) + ", %rd" +
            std::to_string(i - 1) + ";\n";
  }
  body +=
      "add.s64 %rx, %ry, %ry;\nadd.s64 %ry, %rx, %rx;\nld.local.v2.f32 {%f1,%f2}, [%rx];\n"
      "ld.local.v2.f32 {%f1,%f2}, [%rd1999];";
  EXPECT_TRUE(Lints(body).empty());
}

}  // namespace
}  // namespace cuproof
