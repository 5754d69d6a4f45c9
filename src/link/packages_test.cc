#include "link/packages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "container/test_folder.h"

namespace cuproof {
namespace {

using testing::SizeIs;

TEST(Packages, TwoThatOwnOneFileWithOtherContents) {
  const TestFolder site;
  const auto add = [&](const std::string& name, const std::string& record) {
    site.Write(name + ".dist-info/METADATA",
               "Name: " + name.substr(0, name.find('-')) + "\nVersion: 1.0\n\nText: 2\n");
    site.Write(name + ".dist-info/RECORD", record);
  };
  site.Write("nvidia/nccl/lib/libnccl.so.2", "four");
  add("nccl_cu11-1.0", "nvidia/__init__.py,sha256=x,0\nnvidia/nccl/lib/libnccl.so.2,sha256=a,5\n");
  add("nccl_cu12-1.0", "nvidia/__init__.py,sha256=y,0\nnvidia/nccl/lib/libnccl.so.2,sha256=b,4\n");
  add("same_a-1.0", "same/lib.so,sha256=a,5\n");
  add("same_b-1.0", "same/lib.so,sha256=a,5\r\n");
  const Packages packages = ReadPackages({site.path()});
  ASSERT_THAT(packages.all, SizeIs(4));
  ASSERT_THAT(packages.owned_twice, SizeIs(1));  // not __init__.py, not equal contents
  EXPECT_EQ(packages.owned_twice[0].path, site.At("nvidia/nccl/lib/libnccl.so.2"));
  EXPECT_EQ(packages.owned_twice[0].winner, "nccl_cu12 1.0");
  ASSERT_NE(packages.OwnerOf(site.At("same/../same/lib.so")), nullptr);
  EXPECT_EQ(packages.OwnerOf(site.At("else.so")), nullptr);
}

TEST(Packages, ReadsQuotedNamesAndLinesThatEndEarly) {
  const auto lines = ReadRecord("\"a, b.so\",sha256=x,3\nonly\n\n\"open,1\n");
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_EQ(lines[0].path, "a, b.so");
  EXPECT_EQ(lines[0].size, "3");
  EXPECT_EQ(lines[1].path, "only");
  EXPECT_EQ(lines[2].path, "open,1");
}

TEST(Packages, APinnedTorchIsTheOneItWasBuiltFor) {
  const TestFolder site;
  const auto pin = [&](const std::string& requirement) {
    site.Write("x-1.dist-info/METADATA", "Name: x\nRequires-Dist: " + requirement + "\n");
    return ReadPackages({site.path()}).all.at(0).torch_pin;
  };
  EXPECT_EQ(pin("torch==2.6.0"), "2.6.0");
  EXPECT_EQ(pin("torch (==2.6.0)"), "2.6.0");
  EXPECT_EQ(pin("torch==2.6.0; platform_system == 'Linux'"), "2.6.0");
  EXPECT_EQ(pin("torch>=2.6"), "");
  EXPECT_EQ(pin("torch==2.6.*"), "");
  EXPECT_EQ(pin("torchvision==0.21"), "");
  EXPECT_EQ(pin("torch==2.6.0; extra == 'gpu'"), "");
}

TEST(Packages, OneWithoutRecordIsKept) {
  const TestFolder site;
  site.Write("x-1.2.dist-info/METADATA", "Name: x\nVersion: 1.2\n");
  const Packages packages = ReadPackages({site.path()});
  ASSERT_THAT(packages.all, SizeIs(1));
  EXPECT_FALSE(packages.all[0].has_record);
  EXPECT_EQ(packages.all[0].Text(), "x 1.2");
}

}  // namespace
}  // namespace cuproof
