#include "resource/kernel_survey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "build_fatbin.h"
#include "container/test_folder.h"

namespace cuproof {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Gpu GpuOf(uint32_t sm) {
  const auto found = FindGpus("sm_" + std::to_string(sm));
  return found ? found->front() : Gpu{};
}

class KernelSurvey : public testing::Test {
 protected:
  Survey Of(const std::string& bytes, SurveyOptions options = {}) {
    options.threads = 2;
    return SurveyKernels(TakeInventory({folder_.Write("x.fatbin", bytes)}), options);
  }

  static std::vector<std::string> Archs(const Survey& survey) {
    std::vector<std::string> archs;
    for (const FileKernels& file : survey.files) {
      for (const KernelRow& row : file.kernels) archs.push_back(ArchText(row.arch));
    }
    return archs;
  }

  const TestFolder folder_;
};

std::string Container() {
  return build::Fatbin({build::Compressed(build::Sass({80, 0}), Compression::kZstd),
                        build::Sass({90, 0}), build::Ptx({90, 0}, {9, 0})});
}

SurveyOptions For(uint32_t sm) {
  SurveyOptions options;
  options.gpus = {GpuOf(sm)};
  options.device_functions = true;  // the code of the maker's cubins has no symbol
  return options;
}

TEST_F(KernelSurvey, ReadsEveryCubinInFileOrder) {
  SurveyOptions options;
  options.device_functions = true;
  const Survey survey = Of(Container(), options);
  EXPECT_THAT(Archs(survey), ElementsAre("80", "90"));
  EXPECT_EQ(survey.files[0].cubins, 2u);
  EXPECT_EQ(survey.files[0].kernels[0].name, survey.files[0].kernels[1].name)
      << "one text for both";
}

TEST_F(KernelSurvey, OfAGpuOnlyTheImageThatItsDriverTakes) {
  EXPECT_THAT(Archs(Of(Container(), For(90))), ElementsAre("90"));
  EXPECT_THAT(Archs(Of(Container(), For(86))), ElementsAre("80"));
  const Survey blackwell = Of(Container(), For(120));
  EXPECT_THAT(Archs(blackwell), IsEmpty());
  EXPECT_EQ(blackwell.files[0].ptx_modules, 1u);
}

TEST_F(KernelSurvey, DamageIsAProblemAndTheRestIsRead) {
  std::string bytes = Container();
  const size_t frame = bytes.find("\x28\xB5\x2F\xFD");
  ASSERT_NE(frame, std::string::npos);
  bytes[frame + 12] = static_cast<char>(bytes[frame + 12] ^ 0x55);
  SurveyOptions options;
  options.device_functions = true;
  const Survey survey = Of(bytes, options);
  EXPECT_THAT(survey.problems, SizeIs(1));
  EXPECT_THAT(Archs(survey), ElementsAre("90"));
}

TEST_F(KernelSurvey, UnwantedKernelsAreLeftOut) {
  SurveyOptions options;
  options.device_functions = true;
  options.wanted = [](const std::string& name) { return name != "probe"; };
  EXPECT_THAT(Archs(Of(Container(), options)), IsEmpty());
}

}  // namespace
}  // namespace cuproof
