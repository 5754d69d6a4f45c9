#include "target/this_machine.h"

#include <gtest/gtest.h>

#include "target/target.h"

namespace cuproof {
namespace {

// /proc/driver/nvidia/version as drivers print it.
TEST(DriverNumberIn, TheProprietaryKernelModule) {
  EXPECT_EQ(DriverNumberIn(
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 "
                "UTC 2024\nGCC version:  gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04) \n"),
            "535.183.01");
  EXPECT_EQ(DriverNumberIn(
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  390.157  Wed Oct 12 09:19:07 UTC "
                "2022\nGCC version:  gcc version 9.4.0 (Ubuntu 9.4.0-1ubuntu1~20.04.1) \n"),
            "390.157");
}

TEST(DriverNumberIn, TheOpenKernelModule) {
  EXPECT_EQ(DriverNumberIn("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  "
                           "Release Build  (dvs-builder@U22-I3-AE18-23-3)  Tue Sep 23 09:55:41 UTC "
                           "2025\nGCC version:  gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1) \n"),
            "580.95.05");
  EXPECT_EQ(DriverNumberIn("NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  540.4.0  "
                           "Release Build  (buildbrain@mobile-u64-6422-d8000)  Thu Sep 19\n"),
            "540.4.0");
}

TEST(DriverNumberIn, TextsWithoutADriverNumber) {
  EXPECT_EQ(DriverNumberIn(""), "");
  EXPECT_EQ(DriverNumberIn("GCC version:  gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04)"), "");
  EXPECT_EQ(DriverNumberIn("kernel-580.95.05"), "");
  EXPECT_EQ(DriverNumberIn("at the end of a sentence 580. And more"), "");
  EXPECT_EQ(DriverNumberIn("580"), "");
}

TEST(DriverNumberIn, ANumberAtTheVeryEnd) {
  EXPECT_EQ(DriverNumberIn("580.95.05"), "580.95.05");
  EXPECT_EQ(DriverNumberIn("\t580.95.05\n"), "580.95.05");
}

TEST(ThisMachine, IsNamedWhenItHasAGpu) {
  const Target target = ThisMachine();
  EXPECT_EQ(target.named, !target.gpus.empty());
  for (const Gpu& gpu : target.gpus) EXPECT_TRUE(gpu.present);
}

}  // namespace
}  // namespace cuproof
