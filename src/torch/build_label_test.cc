#include "torch/build_label.h"

#include <gtest/gtest.h>

namespace cuproof {
namespace {

TEST(BuildLabel, ReadsWhatProjectsWrite) {
  const BuildLabel flash = ReadBuildLabel("2.7.4.post1+cu12torch2.6cxx11abiFALSE");
  EXPECT_EQ(flash.abi, StringAbi::kOld);
  EXPECT_EQ(flash.Torch(), "2.6");
  EXPECT_EQ(flash.cuda_major, 12);
  const BuildLabel scatter = ReadBuildLabel("2.1.2+pt210cu130");
  EXPECT_EQ(scatter.Torch(), "2.10");
  EXPECT_EQ(scatter.cuda_major, 13);
  EXPECT_EQ(ReadBuildLabel("2.6.0+cu118").cuda_major, 11);
  const BuildLabel hub = LabelOfPath("build/torch27-cxx11-cu126-x86_64-linux/act/_act.abi3.so");
  EXPECT_EQ(hub.abi, StringAbi::kNew);
  EXPECT_EQ(hub.Torch(), "2.7");
  EXPECT_EQ(hub.cuda_major, 12);
  EXPECT_EQ(LabelOfPath("torch26-cxx98-cu118-x86_64-linux/a.so").abi, StringAbi::kOld);
  EXPECT_EQ(LabelOfPath("a/x-1.0+cu121-cp311-cp311-linux_x86_64.whl!x/_C.so").cuda_major, 12);
}

TEST(BuildLabel, ReadsNothingIntoOtherNames) {
  EXPECT_TRUE(ReadBuildLabel("1.0.0").empty());
  EXPECT_TRUE(ReadBuildLabel("2.10.0").empty());
  EXPECT_TRUE(ReadBuildLabel("1.0+cu").empty());
  EXPECT_TRUE(ReadBuildLabel("1.0+accu121").empty());
  EXPECT_TRUE(ReadBuildLabel("1.0+cu99999").empty());
  EXPECT_TRUE(LabelOfPath("nvidia_nccl_cu12-2.27.5-py3-none-manylinux_2_28_x86_64.whl!a").empty());
  EXPECT_TRUE(LabelOfPath("site-packages/torch/lib/libtorch.so").empty());
  EXPECT_TRUE(LabelOfPath("site-packages/torchvision-0.1/x.so").empty());
}

}  // namespace
}  // namespace cuproof
