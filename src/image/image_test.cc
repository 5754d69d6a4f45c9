#include "image/image.h"

#include <gtest/gtest.h>

namespace cuproof {
namespace {

TEST(ArchText, HasTheSuffix) {
  EXPECT_EQ(ArchText({90, 0}), "90");
  EXPECT_EQ(ArchText({90, 'a'}), "90a");
  EXPECT_EQ(ArchText({120, 'f'}), "120f");
}

TEST(VersionText, IsUnknownWithoutAMajor) {
  EXPECT_EQ(VersionText({13, 0}), "13.0");
  EXPECT_EQ(VersionText({9, 10}), "9.10");
  EXPECT_EQ(VersionText({}), "unknown");
}

TEST(Version, OrdersByMajorThenMinor) {
  EXPECT_LT((Version{8, 8}), (Version{9, 0}));
  EXPECT_LT((Version{9, 1}), (Version{9, 10}));
  EXPECT_LT(Version{}, (Version{1, 0}));
}

TEST(ImageTarget, SaysTheKindByItsPrefix) {
  Image image;
  image.arch = {90, 'a'};
  const std::pair<ImageKind, const char*> cases[] = {{ImageKind::kCubin, "sm_90a"},
                                                     {ImageKind::kPtx, "compute_90a"},
                                                     {ImageKind::kLtoIr, "lto_90a"},
                                                     {ImageKind::kTileIr, "arch_90a"},
                                                     {ImageKind::kUnknown, "arch_90a"}};
  for (const auto& [kind, text] : cases) {
    image.kind = kind;
    EXPECT_EQ(ImageTarget(image), text);
  }
}

TEST(ImageKindName, IsTheWordOfTheJsonOutput) {
  EXPECT_STREQ(ImageKindName(ImageKind::kPtx), "ptx");
  EXPECT_STREQ(ImageKindName(ImageKind::kCubin), "cubin");
  EXPECT_STREQ(ImageKindName(ImageKind::kLtoIr), "lto-ir");
  EXPECT_STREQ(ImageKindName(ImageKind::kTileIr), "tile-ir");
  EXPECT_STREQ(ImageKindName(ImageKind::kUnknown), "unknown");
}

}  // namespace
}  // namespace cuproof
