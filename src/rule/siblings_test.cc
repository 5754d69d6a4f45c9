#include "rule/siblings.h"

#include <gtest/gtest.h>

#include "rule/test_check.h"

namespace cuproof {
namespace {

using build::Fatbin;
using build::Sass;
using build::SharedObject;

const std::string kEighty = SharedObject(Fatbin({Sass({80, 0})}));
const std::string kHundred = SharedObject(Fatbin({Sass({100, 0})}));

/// The role of the first file, for sm_80, beside a second one for sm_100, on a B200.
Role RoleOf(const std::string& first, const std::string& second) {
  const Report report = JudgedFiles({{first, kEighty}, {second, kHundred}}, {"B200"});
  return Siblings(report).RoleOf(report.files[0], 0);
}

TEST(Siblings, AFileThatNoOtherStandsInForIsRequired) {
  const Report alone = JudgedFiles({{"x.so", kEighty}}, {"B200"});
  EXPECT_EQ(Siblings(alone).RoleOf(alone.files[0], 0), Role::kRequired);
  EXPECT_EQ(RoleOf("pkg/_C.so", "pkg/other.so"), Role::kRequired);
}

TEST(Siblings, VariantsDifferInNumbersOnly) {
  EXPECT_EQ(RoleOf("b/libbitsandbytes_cuda118.so", "b/libbitsandbytes_cuda130.so"), Role::kVariant);
  EXPECT_EQ(RoleOf("flash_sm80.so", "flash_sm100a.so"), Role::kVariant);
  EXPECT_EQ(RoleOf("flash_sm80.so", "flash_sm100f.so"), Role::kVariant);
  EXPECT_EQ(RoleOf("x.whl!a/k_sm80.cubin", "x.whl!b/k_sm100.cubin"), Role::kVariant);
  EXPECT_EQ(RoleOf("cuda11/kernels.so", "cuda13/kernels.so"), Role::kVariant);
  EXPECT_EQ(RoleOf("flash_sm80b.so", "flash_sm100.so"), Role::kRequired);
  EXPECT_EQ(RoleOf("flash_sm80.so", "dense_sm100.so"), Role::kRequired);
}

TEST(Siblings, ALibraryThatNothingLinksToIsOptional) {
  EXPECT_EQ(RoleOf("pkg/liba.so", "pkg/libb.so"), Role::kOptional);
  // In another folder it may belong to another package.
  EXPECT_EQ(RoleOf("pkg/liba.so", "other/libb.so"), Role::kRequired);
  Report report = JudgedFiles({{"pkg/liba.so", kEighty}, {"pkg/libb.so", kHundred}}, {"B200"});
  report.needed[0].insert("liba.so");
  EXPECT_EQ(Siblings(report).RoleOf(report.files[0], 0), Role::kRequired);
}

TEST(Siblings, AFileForOneChipOnlyIsAVariantOfWhatRuns) {
  const std::string hopper = SharedObject(Fatbin({Sass({90, 'a'})}));
  const Report report =
      JudgedFiles({{"a/hopper.so", hopper}, {"b/main.so", kEighty}}, {"A100", "T4"});
  EXPECT_EQ(Siblings(report).RoleOf(report.files[0], 0), Role::kVariant);
  EXPECT_EQ(Siblings(report).RoleOf(report.files[0], 1), Role::kRequired);
}

TEST(Siblings, FilesOfOtherRootsDoNotCount) {
  Report report = JudgedFiles({{"k_80.so", kEighty}, {"k_100.so", kHundred}}, {"B200"});
  report.files[1].root = 1;
  report.needed.resize(2);
  EXPECT_EQ(Siblings(report).RoleOf(report.files[0], 0), Role::kRequired);
}

}  // namespace
}  // namespace cuproof
