#include "container/wheel.h"

#include <gtest/gtest.h>

namespace cuproof {
namespace {

constexpr char kMember[] = "torch-2.6.0+cu124.dist-info/METADATA";

TEST(Wheel, MetadataIsOneFolderDeep) {
  EXPECT_TRUE(IsWheelMetadata(kMember));
  EXPECT_FALSE(IsWheelMetadata("vendor/torch-2.6.0.dist-info/METADATA"));
  EXPECT_FALSE(IsWheelMetadata("torch-2.6.0.dist-info/METADATA/x"));
  EXPECT_FALSE(IsWheelMetadata(".dist-info/METADATA"));
  EXPECT_FALSE(IsWheelMetadata("METADATA"));
}

TEST(Wheel, NameComesFromTheHeader) {
  EXPECT_EQ(WheelName(kMember, "Metadata-Version: 2.1\r\nname:  torch \r\nVersion: 2.6.0\r\n"),
            "torch 2.6.0");
}

TEST(Wheel, NameComesFromTheFolderWhereTheHeaderHasNone) {
  EXPECT_EQ(WheelName(kMember, ""), "torch 2.6.0+cu124");
  // What follows the empty line is the description.
  EXPECT_EQ(WheelName(kMember, "Metadata-Version: 2.1\n\nName: other\nVersion: 1\n"),
            "torch 2.6.0+cu124");
  EXPECT_EQ(WheelName(kMember, "Name: torch\nno colon"), "torch 2.6.0+cu124");
}

}  // namespace
}  // namespace cuproof
