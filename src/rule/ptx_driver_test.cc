#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rule/test_check.h"

namespace cuproof {
namespace {

using build::Ptx;
using build::Sass;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(PtxDriver, IsAnErrorThatNamesBothVersionsAndTheImage) {
  const auto findings =
      FindingsOf(RulePtxDriver, {Sass({80, 0}), Ptx({80, 0}, {9, 1})}, {"H100"}, "580.95.05");
  ASSERT_EQ(findings.size(), 1u);
  const Finding& finding = findings[0];
  EXPECT_EQ(finding.id, "CP102");
  EXPECT_EQ(finding.severity, Severity::kError);
  EXPECT_EQ(finding.message,
            "only PTX fits sm_90 (H100), and its ISA 9.1 is newer than driver 580.95.05, which "
            "takes 9.0 at most");
  EXPECT_THAT(Joined(finding.evidence), HasSubstr("compute_80 (PTX ISA 9.1) at byte 0x"));
  EXPECT_THAT(Joined(finding.evidence), HasSubstr("error 222"));
  EXPECT_THAT(finding.fix, HasSubstr("arch=compute_90,code=sm_90"));
  EXPECT_THAT(finding.fix, HasSubstr("590.44.01"));
}

TEST(PtxDriver, NamesEveryGpu) {
  const auto findings = FindingsOf(RulePtxDriver, {Ptx({80, 0}, {9, 1}), Ptx({100, 0}, {9, 2})},
                                   {"A100", "B200"}, "13.0");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].message,
            "only PTX fits sm_80 (A100) and sm_100 (B200), and its ISA 9.1 or 9.2 is newer than a "
            "driver for CUDA 13.0, which takes 9.0 at most");
  EXPECT_THAT(Joined(findings[0].evidence),
              HasSubstr("for sm_80 (A100) it would compile compute_80"));
  EXPECT_THAT(Joined(findings[0].evidence),
              HasSubstr("for sm_100 (B200) it would compile compute_100"));
  EXPECT_THAT(findings[0].fix,
              HasSubstr("add SASS for sm_80, sm_100 (-gencode arch=compute_80,code=sm_80 -gencode "
                        "arch=compute_100,code=sm_100), or use driver "));
  EXPECT_THAT(findings[0].fix, HasSubstr("595"));
  EXPECT_THAT(findings[0].verified_on, HasSubstr("by document"));
}

TEST(PtxDriver, IsANoteWhenNoGpuWasNamed) {
  const auto findings = FindingsOf(RulePtxDriver, {Ptx({75, 0}, {9, 1})}, {}, "580");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, Severity::kNote);
  EXPECT_THAT(findings[0].fix, HasSubstr("add SASS for sm_75, sm_80, sm_86, "));
  EXPECT_THAT(findings[0].fix, testing::Not(HasSubstr("-gencode")));
}

TEST(PtxDriver, IsSilentWhenSassFitsOrTheDriverIsNewEnoughOrNotKnown) {
  EXPECT_THAT(FindingsOf(RulePtxDriver, {Sass({90, 0}), Ptx({90, 0}, {9, 1})}, {"H100"}, "580"),
              IsEmpty());
  EXPECT_THAT(FindingsOf(RulePtxDriver, {Ptx({80, 0}, {9, 1})}, {"H100"}, "590"), IsEmpty());
  EXPECT_THAT(FindingsOf(RulePtxDriver, {Ptx({80, 0}, {9, 0})}, {"H100"}, "580"), IsEmpty());
  EXPECT_THAT(FindingsOf(RulePtxDriver, {Ptx({80, 0}, {9, 1})}, {"H100"}), IsEmpty());
  EXPECT_THAT(FindingsOf(RulePtxDriver, {Ptx({80, 0}, {9, 9})}, {"H100"}, "9999"), IsEmpty());
}

TEST(PtxDriver, IsANoteForAVariant) {
  const std::string too_new = build::SharedObject(build::Fatbin({Ptx({80, 0}, {9, 1})}));
  const std::string runs = build::SharedObject(build::Fatbin({Sass({90, 0})}));
  const Report report =
      JudgedFiles({{"p/libx_cuda131.so", too_new}, {"p/libx_cuda130.so", runs}}, {"H100"}, "580");
  EXPECT_EQ(Findings(RulePtxDriver, report).at(0).severity, Severity::kNote);
}

}  // namespace
}  // namespace cuproof
