#include "target/libc_levels.h"

#include <gtest/gtest.h>

namespace cuproof {
namespace {

TEST(LibcLevels, SystemsThatHaveAVersion) {
  EXPECT_EQ(SystemsWith("GLIBC_2.34"),
            "RHEL 9, Amazon Linux 2023, Ubuntu 22.04, Debian 12 or newer");
  EXPECT_EQ(SystemsWith("GLIBC_2.38"), "Ubuntu 24.04, RHEL 10, Debian 13 or newer");
  EXPECT_EQ(SystemsWith("GLIBC_2.99"), "");
  EXPECT_EQ(SystemsWith("GLIBC_PRIVATE"), "");
  EXPECT_EQ(SystemsWith("libcudart.so.12"), "");
  EXPECT_EQ(CompilerWith("GLIBCXX_3.4.32"), "GCC 13.2 or newer");
  EXPECT_EQ(CompilerWith("CXXABI_1.3.15"), "GCC 14.1 or newer");
  EXPECT_EQ(CompilerWith("GLIBC_2.34"), "");
}

TEST(LibcLevels, NumbersCountAsNumbers) {
  EXPECT_TRUE(VersionBefore("3.4.9", "3.4.30"));
  EXPECT_FALSE(VersionBefore("3.4.30", "3.4.9"));
  EXPECT_TRUE(VersionBefore("2.3", "2.3.4"));
  EXPECT_FALSE(VersionBefore("2.34", "2.34"));
  EXPECT_TRUE(VersionBefore("", "2.2.5"));
  EXPECT_FALSE(VersionBefore("2.2.5", ""));
}

}  // namespace
}  // namespace cuproof
