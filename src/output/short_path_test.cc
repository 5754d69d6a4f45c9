#include "output/short_path.h"

#include <gtest/gtest.h>

namespace cuproof {
namespace {

TEST(ShortPath, LeavesOutTheRoot) {
  const auto shorter = [](RootKind kind, const char* root, const char* path) {
    return ShortPath({kind, root, ""}, path);
  };
  EXPECT_EQ(shorter(RootKind::kFolder, "build", "build/lib/a.so"), "lib/a.so");
  EXPECT_EQ(shorter(RootKind::kFolder, "build/", "build/a.so"), "a.so");
  EXPECT_EQ(shorter(RootKind::kFolder, "/", "/a.so"), "a.so");
  EXPECT_EQ(shorter(RootKind::kWheel, "x.whl", "x.whl!pkg/a.so"), "pkg/a.so");
  EXPECT_EQ(
      shorter(RootKind::kEnvironment, ".venv", ".venv/lib/python3.12/site-packages/torch/lib/a.so"),
      "torch/lib/a.so");
}

TEST(ShortPath, KeepsWhatIsNotInTheRoot) {
  EXPECT_EQ(ShortPath({RootKind::kFolder, "build", ""}, "build2/a.so"), "build2/a.so");
  EXPECT_EQ(ShortPath({RootKind::kFolder, "build", ""}, "build"), "build");
  EXPECT_EQ(ShortPath({RootKind::kFile, "a/b.so", ""}, "a/b.so"), "a/b.so");
  EXPECT_EQ(ShortPath({RootKind::kEnvironment, "e", ""}, "e/site-packages/"), "site-packages/");
}

}  // namespace
}  // namespace cuproof
