#include "rule/ptx_lints.h"

#include <gtest/gtest.h>

namespace cuproof {
namespace {

Survey OneKernel(std::vector<uint32_t> stacks) {
  Survey survey;
  survey.names = std::make_shared<KernelNames>();
  const auto [name, wanted] = survey.names->Keep("k", [](const std::string&) { return true; });
  survey.files.resize(1);
  survey.files[0].path = "x.so";
  for (const uint32_t stack : stacks) {
    KernelRow& row = survey.files[0].kernels.emplace_back();
    row.name = name;
    row.resources.stack_frame = stack;
  }
  return survey;
}

std::vector<Finding> Left(const Survey& survey, const char* id, const char* subject = "k") {
  Finding finding;
  finding.id = id;
  finding.file = "x.so";
  finding.subject = subject;
  std::vector<Finding> findings = {finding};
  DropArraysInRegisters(survey, findings);
  return findings;
}

TEST(PtxLints, AnArrayThatPtxasPutIntoRegistersIsNotTold) {
  EXPECT_TRUE(Left(OneKernel({0, 0}), "CP414").empty());
  EXPECT_EQ(Left(OneKernel({0, 80}), "CP414").size(), 1u) << "one architecture has it";
  EXPECT_EQ(Left(OneKernel({0}), "CP411").size(), 1u);
  EXPECT_EQ(Left(OneKernel({0}), "CP414", "other").size(), 1u);
  Survey unknown = OneKernel({0});
  unknown.files[0].kernels[0].resources.stack_frame.reset();
  EXPECT_EQ(Left(unknown, "CP414").size(), 1u);
}

}  // namespace
}  // namespace cuproof
