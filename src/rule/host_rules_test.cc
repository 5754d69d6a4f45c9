#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "bytes/embedded.h"
#include "rule/test_check.h"

// Rules of the host half on hand-made answers of the loader model; tests/host_check_test.py and
// tests/report_*_test.py ask the whole program.
namespace cuproof {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<Finding> Of(Rule rule, HostLoad load, std::vector<Image> images = {}) {
  Report report;
  report.files.resize(1);
  report.files[0].path = "pkg/m.so";
  report.files[0].images.images = std::move(images);
  report.files[0].host = std::make_shared<const HostLoad>(std::move(load));
  return Findings(rule, report);
}

Image CubinOf(uint16_t major) {
  Image image;
  image.kind = ImageKind::kCubin;
  image.arch = {90, 0};
  image.toolkit = {major, 0};
  return image;
}

TEST(HostRules, AStubIsSaidOnceForTwoLibraries) {
  HostLoad load;
  load.stubs.push_back({"_ZN3cub6kernelIiEEvPT_", "libA.so", "libB.so", 3, false});
  const auto found = Of(RuleKernelStub, load);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_THAT(found[0].message, HasSubstr("and 3 more are"));
  EXPECT_THAT(Of(RuleKernelStub, {}), IsEmpty());
}

TEST(HostRules, AnEntryPointCountsOnTheOtherSideOfItsBorder) {
  HostLoad load;
  load.entry_points.push_back({"cudaMemAdvise", "libcudart.so.13", 13});
  EXPECT_THAT(Of(RuleEntryPoint, load, {CubinOf(12)}), SizeIs(1));
  EXPECT_THAT(Of(RuleEntryPoint, load, {CubinOf(13)}), IsEmpty());
  EXPECT_THAT(Of(RuleEntryPoint, load, {CubinOf(12), CubinOf(13)}), IsEmpty());
  EXPECT_THAT(Of(RuleEntryPoint, load), IsEmpty());  // what it was built with is not known
}

TEST(HostRules, ALabelIsReadAgainstWhatIsKnown) {
  HostLoad load;
  load.facts.label = ReadBuildLabel("1.0+cu126torch2.7cxx11abiTRUE");
  load.facts.cuda_libraries = {"libcusparse.so.12", "libcudart.so.12"};
  load.facts.string_abi = StringAbi::kNew;
  load.facts.wants_torch = true;
  load.facts.torch_minors = {"2.7", "2.8"};
  EXPECT_THAT(Of(RuleBuildLabel, load), IsEmpty());
  load.facts.string_abi = StringAbi::kMixed;
  EXPECT_THAT(Of(RuleBuildLabel, load), IsEmpty());
  load.facts.string_abi = StringAbi::kOld;
  EXPECT_THAT(Of(RuleBuildLabel, load), SizeIs(1));
  load.facts.label = ReadBuildLabel("1.0+torch2.99");  // of a torch that is not known
  EXPECT_THAT(Of(RuleBuildLabel, load), IsEmpty());
  // The number of cuSPARSE is not that of the toolkit.
  load.facts.label = ReadBuildLabel("1.0+cu130");
  load.facts.cuda_libraries = {"libcusparse.so.12"};
  EXPECT_THAT(Of(RuleBuildLabel, load), IsEmpty());
}

TEST(HostRules, ATypeCountsOnlyWhereItIsSaidWhatWasBuiltFor) {
  auto environment = std::make_shared<HostEnvironment>();
  environment->torch_version = "2.10.0+cu128";
  HostLoad load;
  load.environment = environment;
  load.facts.torch_types = {"c10::TensorImpl"};
  EXPECT_THAT(Of(RuleTorchLayout, load), IsEmpty());
  load.torch_pin = "2.2.1";
  EXPECT_THAT(Of(RuleTorchLayout, load), SizeIs(1));
  load.facts.torch_types = {"at::Tensor"};
  EXPECT_THAT(Of(RuleTorchLayout, load), IsEmpty());
}

TEST(HostRules, TheStableAbiIsOfTorchNotOfCuda) {
  HostLoad load;
  EXPECT_THAT(Of(RuleStableAbi, load), IsEmpty());
  load.facts.stable = true;
  load.facts.stable_floor = "2.10";
  EXPECT_THAT(Of(RuleStableAbi, load).at(0).fix, IsEmpty());
  load.facts.cuda_libraries = {"libcudart.so.12"};
  EXPECT_THAT(Of(RuleStableAbi, load).at(0).message, HasSubstr("for CUDA it is not"));
}

TEST(HostRules, EveryOneHasAPage) {
  for (const char* id : {"CP203", "CP204", "CP205", "CP206", "CP207", "CP208", "CP209", "CP304",
                         "CP305", "CP306", "CP307", "CP308", "CP309", "CP310", "CP311", "CP312",
                         "CP313", "CP701", "CP702", "CP703", "CP704", "CP705", "CP706"}) {
    const auto pages = EmbeddedPages();
    EXPECT_TRUE(std::any_of(pages.begin(), pages.end(), [&](const EmbeddedText& page) {
      return page.name == id;
    })) << id;
  }
}

}  // namespace
}  // namespace cuproof
