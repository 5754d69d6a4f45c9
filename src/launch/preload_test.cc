#include "launch/preload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "build_dynamic.h"
#include "container/test_folder.h"

namespace cuproof::launch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PreloadCheck : public testing::Test {
 protected:
  std::string Library(const std::string& name, const std::string& soname,
                      std::vector<std::string> needed = {}) {
    build::DynamicElf elf;
    elf.soname = soname;
    elf.needed = std::move(needed);
    elf.symbols = {{"cuInit"}};
    return folder_.Write(name, build::DynamicElfBytes(elf));
  }
  std::string Refusal(const Preloads& preloads) {
    const auto notes = CheckPreloads(preloads, environment_, files_);
    return notes ? "" : notes.error().Text();
  }
  TestFolder folder_;
  Environment environment_;
  FileCache files_;
};

TEST(PreloadText, IsPartedAtBlanksAndColons) {
  EXPECT_THAT(SplitPreload("/a.so:/b.so /c.so::"), ElementsAre("/a.so", "/b.so", "/c.so"));
  EXPECT_THAT(SplitPreload(""), IsEmpty());
}

TEST(PreloadText, TheShimGoesFirstAndTheRestIsKept) {
  EXPECT_EQ(WithShim("/run/libcuda.so.1", "/a.so /b.so"), "/run/libcuda.so.1:/a.so /b.so");
  EXPECT_EQ(WithShim("/run/libcuda.so.1", ""), "/run/libcuda.so.1");
}

TEST(PreloadText, WhatTheLoaderWouldReadOtherwiseCannotBeNamed) {
  EXPECT_TRUE(CanBePreloaded("/home/run-1/lib"));
  for (const char* path : {"/a b", "/a:b", "/$LIB"}) EXPECT_FALSE(CanBePreloaded(path)) << path;
}

TEST_F(PreloadCheck, OtherLibrariesMayStay) {
  EXPECT_EQ(Refusal({Library("libx.so", "libx.so") + ":/not/there.so", ""}), "");
}

TEST_F(PreloadCheck, AnotherShimIsRefusedWhereverItIsNamed) {
  const std::string shim = Library("vgpu.so", "libcuda.so.1");
  EXPECT_THAT(Refusal({"/x.so " + shim, ""}), HasSubstr("vgpu.so: LD_PRELOAD puts it in place"));
  EXPECT_THAT(Refusal({"", shim + "\n"}), HasSubstr("vgpu.so: /etc/ld.so.preload puts it in"));
  EXPECT_EQ(Refusal({"", "# " + shim + "\n"}), "");
}

TEST_F(PreloadCheck, ARunWithinARunIsRefused) {
  const std::string shim =
      Library("libcuda.so.1", "libcuda.so.1", {"/run/lib/libcuproof_inject.so"});
  EXPECT_THAT(Refusal({shim, ""}), HasSubstr("already runs under cuproof run"));
}

TEST_F(PreloadCheck, TheSystemsFileIsTold) {
  const std::string library = Library("libx.so", "libx.so");
  const auto notes = CheckPreloads({"", library}, environment_, files_);
  ASSERT_TRUE(notes.ok());
  EXPECT_THAT(*notes,
              ElementsAre("/etc/ld.so.preload preloads " + library + " into every program"));
}

}  // namespace
}  // namespace cuproof::launch
