#include "output/image_groups.h"

#include <gtest/gtest.h>

#include "output/test_report.h"

namespace cuproof {
namespace {

TEST(GroupImages, JoinsWhatIsAlike) {
  FileImages file;
  test::AddContainer(file, 0, {test::Cubin({90, 0}, 100), test::Ptx(90, {9, 0}, 50)}, "a");
  test::AddContainer(file, 5000, {test::Cubin({90, 0}, 200), test::Cubin({80, 0}, 10)}, "b");
  file.images[2].damage = Error{};
  const auto groups = GroupImages(file, BySection::kNo);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(ImageTarget(groups[0].like), "sm_80");
  EXPECT_EQ(ImageTarget(groups[1].like), "sm_90");
  EXPECT_EQ(groups[1].count, 2u);
  EXPECT_EQ(groups[1].stored_bytes, 300u);
  EXPECT_EQ(groups[1].damaged, 1u);
  EXPECT_EQ(ImageTarget(groups[2].like), "compute_90");
  EXPECT_EQ(groups[2].raw_bytes, 350u);
  EXPECT_EQ(GroupImages(file, BySection::kYes).size(), 4u);
}

TEST(GroupImages, ClaimedSizesDoNotWrap) {
  FileImages file;
  test::AddContainer(file, 0, {test::Cubin({90, 0}), test::Cubin({90, 0})});
  for (Image& image : file.images) image.raw_size = UINT64_MAX - 1;
  EXPECT_EQ(GroupImages(file, BySection::kNo).at(0).raw_bytes, UINT64_MAX);
}

TEST(GroupImages, ModuleOutOfRangeHasNoSection) {
  FileImages file;
  file.images = {test::Cubin({90, 0})};
  file.images[0].module = 7;
  EXPECT_EQ(GroupImages(file, BySection::kYes).at(0).section, "");
}

TEST(ImageVersionText, ByKind) {
  EXPECT_EQ(ImageVersionText(test::Cubin({90, 0})), "CUDA 13.0");
  EXPECT_EQ(ImageVersionText(test::Ptx(90, {9, 1})), "ISA 9.1");
  Image lto = test::MakeImage(ImageKind::kLtoIr, {75, 0}, 8);
  EXPECT_EQ(ImageVersionText(lto), "");
  lto.version = {2, 0};
  EXPECT_EQ(ImageVersionText(lto), "NVVM 2.0");
}

}  // namespace
}  // namespace cuproof
