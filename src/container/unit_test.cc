#include "container/unit.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "container/test_folder.h"

namespace cuproof {
namespace {

class Environment : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("VIRTUAL_ENV");
    unsetenv("CONDA_PREFIX");
  }
  void TearDown() override { SetUp(); }
};

TEST_F(Environment, NoneIsActive) {
  EXPECT_EQ(ActiveEnvironment(), "");
  setenv("VIRTUAL_ENV", "", 1);
  EXPECT_EQ(ActiveEnvironment(), "");
}

TEST_F(Environment, AVirtualEnvironmentGoesBeforeConda) {
  setenv("CONDA_PREFIX", "/opt/conda", 1);
  EXPECT_EQ(ActiveEnvironment(), "/opt/conda");
  setenv("VIRTUAL_ENV", "/home/x/venv", 1);
  EXPECT_EQ(ActiveEnvironment(), "/home/x/venv");
}

TEST(RootKind, EveryKindHasAName) {
  EXPECT_STREQ(RootKindName(RootKind::kFile), "file");
  EXPECT_STREQ(RootKindName(RootKind::kEnvironment), "environment");
  EXPECT_STREQ(RootKindName(RootKind::kProcess), "process");
}

TEST(OpenUnit, AFileIsMappedAsItIs) {
  const TestFolder folder;
  const Inventory inventory = TakeInventory({folder.Write("a.so", ElfLike(5000))});
  ASSERT_EQ(inventory.units.size(), 1u);
  const auto bytes = OpenUnit(inventory.units[0]);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ((*bytes)->bytes().Text(), ElfLike(5000));
  EXPECT_FALSE((*bytes)->changed());
}

TEST(OpenUnit, AFileThatVanishedIsAnErrorWithItsShownName) {
  const TestFolder folder;
  const Inventory inventory = TakeInventory({folder.Write("a.so", ElfLike())});
  ASSERT_EQ(inventory.units.size(), 1u);
  std::filesystem::remove(inventory.units[0].file);
  const auto bytes = OpenUnit(inventory.units[0]);
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(bytes.error().file, inventory.units[0].shown);
}

}  // namespace
}  // namespace cuproof
