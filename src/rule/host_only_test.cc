#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rule/test_check.h"

namespace cuproof {
namespace {

using testing::IsEmpty;

std::vector<Finding> Find(const std::string& bytes) {
  return Findings(RuleHostOnly, JudgedFiles({{"x", bytes}}, {}));
}

TEST(HostOnly, HostCodeWithoutImagesIsANote) {
  build::HostElf elf;
  elf.dynamic_names = {"__cudaRegisterFatBinary"};
  const auto findings = Find(build::HostElfBytes(elf));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].id, "CP112");
  EXPECT_EQ(findings[0].severity, Severity::kNote);
}

TEST(HostOnly, IsSilentAboutFilesWithImagesOrWithoutTheName) {
  EXPECT_THAT(Find(build::SharedObject(build::Fatbin({build::Sass({90, 0})}))), IsEmpty());
  EXPECT_THAT(Find(build::HostElfBytes({})), IsEmpty());
}

TEST(HostOnly, IsSilentAboutTheRuntimeItself) {
  build::HostElf runtime;
  runtime.dynamic_names = {"__cudaRegisterFatBinary"};
  runtime.soname = "libcudart.so.13";
  EXPECT_THAT(Find(build::HostElfBytes(runtime)), IsEmpty());
  build::HostElf object;
  object.type = ET_REL;
  object.sections = {{".strtab", SHT_STRTAB, "x__cudaRegisterFatBinary"}};
  EXPECT_THAT(Find(build::Archive({{"cudart.o", build::HostElfBytes(object)}})), IsEmpty());
}

}  // namespace
}  // namespace cuproof
