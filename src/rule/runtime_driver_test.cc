#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rule/test_check.h"

namespace cuproof {
namespace {

using build::Fatbin;
using build::Sass;
using build::SharedObject;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(RuntimeDriver, IsAnErrorWithOrWithoutANamedGpu) {
  for (const std::vector<std::string>& gpus : {std::vector<std::string>{"H100"}, {}}) {
    const auto findings = FindingsOf(RuleRuntimeDriver, {Sass({90, 0})}, gpus, "570.124.06");
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].id, "CP104");
    EXPECT_EQ(findings[0].severity, Severity::kError);
    EXPECT_EQ(findings[0].subject, "driver 570.124.06");
    EXPECT_EQ(findings[0].message,
              "needs driver 580.65.06 or newer (CUDA 13 runtime), the target has 570.124.06");
    EXPECT_THAT(Joined(findings[0].evidence), HasSubstr("it needs libcudart.so.13"));
    EXPECT_THAT(Joined(findings[0].evidence), HasSubstr("error 35"));
  }
}

TEST(RuntimeDriver, ACudaVersionIsNotADriverNumber) {
  const auto findings = FindingsOf(RuleRuntimeDriver, {Sass({90, 0})}, {"H100"}, "12.6");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].message,
            "needs driver 580.65.06 or newer (CUDA 13 runtime), the target has a driver for CUDA "
            "12.6");
}

TEST(RuntimeDriver, IsSilentForADriverOfTheSameMajorOrNone) {
  EXPECT_THAT(FindingsOf(RuleRuntimeDriver, {Sass({90, 0})}, {"H100"}, "580.65.06"), IsEmpty());
  EXPECT_THAT(FindingsOf(RuleRuntimeDriver, {Sass({90, 0})}, {"H100"}, "9999"), IsEmpty());
  EXPECT_THAT(FindingsOf(RuleRuntimeDriver, {Sass({90, 0})}, {"H100"}), IsEmpty());
  const std::string twelve = SharedObject(Fatbin({Sass({90, 0}, {12, 9})}), 12);
  EXPECT_THAT(Findings(RuleRuntimeDriver, JudgedFiles({{"x.so", twelve}}, {"H100"}, "525.60.13")),
              IsEmpty());
}

TEST(RuntimeDriver, IsSilentAboutAnImageAlone) {
  EXPECT_THAT(Findings(RuleRuntimeDriver,
                       JudgedFiles({{"k.fatbin", Fatbin({Sass({90, 0})})}}, {"H100"}, "570")),
              IsEmpty());
}

TEST(RuntimeDriver, IsANoteBesideAVariantForAnOlderCuda) {
  const std::string thirteen = SharedObject(Fatbin({Sass({90, 0})}), 13);
  const std::string twelve = SharedObject(Fatbin({Sass({90, 0}, {12, 4})}), 12);
  const Report report = JudgedFiles(
      {{"p/libbitsandbytes_cuda130.so", thirteen}, {"p/libbitsandbytes_cuda124.so", twelve}},
      {"H100"}, "550");
  EXPECT_EQ(Findings(RuleRuntimeDriver, report).at(0).severity, Severity::kNote);
}

}  // namespace
}  // namespace cuproof
