#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rule/test_check.h"

namespace cuproof {
namespace {

using build::Compressed;
using build::Ptx;
using build::Sass;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Finding> Find(const std::vector<build::Entry>& entries,
                          const std::vector<std::string>& gpus, std::string_view driver) {
  const std::string bytes = build::SharedObject(build::Fatbin(entries), 12);
  return Findings(RuleZstdDriver, JudgedFiles({{"libx.so", bytes}}, gpus, driver));
}

const build::Entry kZstd = Compressed(Sass({80, 0}, {12, 4}), Compression::kZstd);

TEST(ZstdDriver, IsAnErrorForANamedGpuAndANoteElse) {
  const auto findings = Find({kZstd}, {"A100"}, "535.183.01");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].id, "CP105");
  EXPECT_EQ(findings[0].severity, Severity::kError);
  EXPECT_THAT(findings[0].message, HasSubstr("drivers before r550 cannot read"));
  EXPECT_THAT(Joined(findings[0].evidence), HasSubstr("sm_80 at byte"));
  EXPECT_THAT(Joined(findings[0].evidence), HasSubstr("error 200"));
  EXPECT_EQ(Find({kZstd}, {}, "535").at(0).severity, Severity::kNote);
}

TEST(ZstdDriver, NamesTheImageOfEachGpuAndACudaVersionAsOne) {
  const build::Entry hopper = Compressed(Sass({90, 0}, {12, 4}), Compression::kZstd);
  const auto findings = Find({kZstd, hopper}, {"A100", "H100"}, "12.3");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(Joined(findings[0].evidence), HasSubstr("sm_80 at byte"));
  EXPECT_THAT(Joined(findings[0].evidence), HasSubstr("sm_90 at byte"));
  EXPECT_THAT(findings[0].message, HasSubstr("the target has a driver for CUDA 12.3"));
}

TEST(ZstdDriver, IsSilentFromR550OnAndForOtherCompressions) {
  EXPECT_THAT(Find({kZstd}, {"A100"}, "550.54.14"), IsEmpty());
  EXPECT_THAT(Find({Compressed(Sass({80, 0}, {12, 4}), Compression::kLz4Block)}, {"A100"}, "535"),
              IsEmpty());
  EXPECT_THAT(Find({kZstd}, {"A100"}, ""), IsEmpty());
}

// nvcc 13 writes PTX in zstd by default and leaves SASS plain.
TEST(ZstdDriver, IsSilentAboutAnImageThatNobodyTakes) {
  EXPECT_THAT(Find({Sass({80, 0}, {12, 4}), Compressed(Ptx({80, 0}, {8, 4}), Compression::kZstd)},
                   {"A100"}, "535"),
              IsEmpty());
}

}  // namespace
}  // namespace cuproof
