#include "resource/kernel_lines.h"

#include <gtest/gtest.h>

namespace cuproof {
namespace {

class Lines : public testing::Test {
 protected:
  void Add(const std::string& name, uint32_t registers, uint64_t spills = 0, Arch arch = {90, 0}) {
    const auto [kept, wanted] = names_.Keep(name, [](const std::string&) { return true; });
    KernelRow row{kept, arch, {}, {}};
    row.resources.is_entry = true;
    row.resources.registers = registers;
    row.resources.spills = Spills{spills, 0, SpillBasis::kExact};
    file_.kernels.push_back(std::move(row));
  }

  std::vector<std::string> Names(KernelOrder order) {
    std::vector<std::string> names;
    for (const KernelLine& line : KernelLines(file_, {}, order)) names.push_back(*line.row->name);
    return names;
  }

  KernelNames names_;
  FileKernels file_;
};

TEST_F(Lines, ComeWithTheMostFirst) {
  Add("few", 32);
  Add("many", 200);
  Add("spills", 64, 100);
  EXPECT_EQ(Names(KernelOrder::kSpills), (std::vector<std::string>{"spills", "many", "few"}));
  EXPECT_EQ(Names(KernelOrder::kRegisters), (std::vector<std::string>{"many", "spills", "few"}));
  EXPECT_EQ(Names(KernelOrder::kOccupancy), (std::vector<std::string>{"many", "spills", "few"}));
  EXPECT_EQ(Names(KernelOrder::kName), (std::vector<std::string>{"few", "many", "spills"}));
}

TEST_F(Lines, CopiesAreTold) {
  Add("same", 32);
  Add("other", 32);
  Add("same", 32);
  Add("same", 33);
  const auto lines = KernelLines(file_, {}, KernelOrder::kName);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1].copies, 2u);
  EXPECT_EQ(lines[2].copies, 1u) << "another number is another line";
}

TEST_F(Lines, ASurveyIsArrangedAndCut) {
  Add("few", 32);
  Add("many", 200);
  Survey survey;
  survey.files.push_back(file_);
  ArrangeKernels({}, KernelOrder::kRegisters, 1, survey);
  ASSERT_EQ(survey.files[0].kernels.size(), 1u);
  EXPECT_EQ(*survey.files[0].kernels[0].name, "many");
}

TEST_F(Lines, OneForEachGpuThatWasAskedFor) {
  Add("kernel", 32, 0, {80, 0});
  file_.kernels[0].gpus = {80, 86};
  const auto lines = KernelLines(file_, {}, KernelOrder::kName);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1].answer->sm, 86u);
  EXPECT_EQ(lines[1].answer->sm_warps, 48u);
}

}  // namespace
}  // namespace cuproof
