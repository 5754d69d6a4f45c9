#include "link/loaded_file.h"

#include <gtest/gtest.h>

#include "build_dynamic.h"
#include "container/test_folder.h"
#include "container/test_zip.h"

namespace cuproof {
namespace {

TEST(FileCache, AMemberStandsWhereItWouldBeInstalled) {
  const TestFolder folder;
  build::DynamicElf elf;
  elf.soname = "libx.so";
  RawMember member;
  member.name = "pkg/libx.so";
  member.stored = build::DynamicElfBytes(elf);
  const std::string zip = folder.Write("x.whl", RawZip({member}).bytes());
  Unit unit;
  unit.file = zip;
  unit.members = {{"pkg/libx.so", 0}};
  folder.Write("site/other/liby.so", build::DynamicElfBytes({}));
  FileCache files;
  files.Install(folder.At("site/pkg/libx.so"), unit);
  const auto file = files.Open(folder.At("site/pkg/libx.so"));
  ASSERT_TRUE(file->object.has_value());
  EXPECT_EQ(file->object->soname, "libx.so");
  EXPECT_EQ(files.Open(folder.At("site/other/../pkg/libx.so")), file);
  // There is no folder pkg on disk.
  EXPECT_TRUE(files.FolderExists(folder.At("site/pkg")));
  EXPECT_TRUE(files.Open(folder.At("site/pkg/../other/liby.so"))->exists);
  EXPECT_FALSE(files.Open(folder.At("site/pkg/libz.so"))->exists);
  EXPECT_FALSE(files.FolderExists(folder.At("site/elsewhere")));
}

}  // namespace
}  // namespace cuproof
