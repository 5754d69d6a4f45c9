#include "rule/wheel_tag.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuproof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<Finding> Of(const std::string& wheel, WheelModule module,
                        std::vector<std::string> others = {}) {
  Root root;
  root.kind = RootKind::kWheel;
  root.argument = "dist/" + wheel;
  module.shown = wheel + '!' + module.member;
  for (std::string& name : others) name = wheel + '!' + name;
  others.push_back(module.shown);
  std::vector<Finding> findings;
  AddTagFindings({root}, {module}, others, findings);
  return findings;
}

WheelModule Module(const std::string& member, const std::string& machine = "x86-64",
                   std::vector<std::string> needed = {"libc.so.6"}) {
  return {0, "", member, machine, std::move(needed)};
}

TEST(WheelTag, IsReadFromTheName) {
  const WheelTags tags =
      TagsOf("a/x-1.0+cu12-1-cp311.cp312-abi3-manylinux2014_x86_64.linux_x86_64.whl");
  EXPECT_THAT(tags.pythons, ElementsAre("cp311", "cp312"));
  EXPECT_THAT(tags.abis, ElementsAre("abi3"));
  EXPECT_THAT(tags.platforms, ElementsAre("manylinux2014_x86_64", "linux_x86_64"));
  EXPECT_THAT(TagsOf("x.whl").pythons, IsEmpty());
  EXPECT_THAT(TagsOf("x-1-py3-none-any.zip").pythons, IsEmpty());
  EXPECT_TRUE(IsModuleName("p/_C.abi3.so"));
  EXPECT_TRUE(IsModuleName("p/_C.cpython-312-x86_64-linux-gnu.so"));
  EXPECT_FALSE(IsModuleName("p/libx.so"));
  EXPECT_FALSE(IsModuleName("p/_C.cpython-.so"));
}

TEST(WheelTag, AModuleOfAnotherPython) {
  const std::string wheel = "x-1.0-cp312-cp312-manylinux_2_28_x86_64.whl";
  const auto found = Of(wheel, Module("p/_C.cpython-311-x86_64-linux-gnu.so"));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_THAT(found[0].message, HasSubstr("is named for cp311, and the wheel is for cp312"));
  EXPECT_THAT(Of(wheel, Module("p/_C.cpython-312-x86_64-linux-gnu.so")), IsEmpty());
  EXPECT_THAT(Of(wheel, Module("p/_C.abi3.so")), IsEmpty());
  // One that holds a module for each.
  EXPECT_THAT(Of(wheel, Module("p/_C.cpython-311-x86_64-linux-gnu.so"),
                 {"p/_C.cpython-312-x86_64-linux-gnu.so"}),
              IsEmpty());
  EXPECT_THAT(Of(wheel, Module("p/_C.cpython-311-x86_64-linux-gnu.so"),
                 {"p/_D.cpython-312-x86_64-linux-gnu.so"}),
              SizeIs(1));
  for (const char* several : {"x-1.0-py3-none-linux_x86_64.whl", "x-1.0-cp38-abi3-linux_x86_64.whl",
                              "x-1.0-cp311.cp312-cp311.cp312-linux_x86_64.whl"}) {
    EXPECT_THAT(Of(several, Module("p/_C.cpython-311-x86_64-linux-gnu.so")), IsEmpty()) << several;
  }
}

TEST(WheelTag, AModuleOfAnotherMachine) {
  const std::string module = "p/_C.abi3.so";
  EXPECT_THAT(Of("x-1.0-cp39-abi3-manylinux_2_28_aarch64.whl", Module(module)), SizeIs(1));
  EXPECT_THAT(Of("x-1.0-cp39-abi3-manylinux_2_28_x86_64.whl", Module(module, "aarch64")),
              SizeIs(1));
  for (const char* wheel :
       {"x-1.0-py3-none-any.whl", "x-1.0-cp39-abi3-macosx_11_0_universal2.whl",
        "x-1.0-cp39-abi3-linux_x86_64.linux_aarch64.whl", "x-1.0-cp39-abi3-linux_ppc64le.whl"}) {
    EXPECT_THAT(Of(wheel, Module(module)), IsEmpty()) << wheel;
  }
  EXPECT_THAT(Of("x-1.0-cp39-abi3-linux_aarch64.whl", Module(module, "")), IsEmpty());
}

TEST(WheelTag, AModuleOfAnotherLibc) {
  const std::string musl = "x-1.0-cp39-abi3-musllinux_1_2_x86_64.whl";
  EXPECT_THAT(Of(musl, Module("p/_C.abi3.so")), SizeIs(1));
  EXPECT_THAT(Of(musl, Module("p/_C.abi3.so", "x86-64", {"libc.musl-x86_64.so.1"})), IsEmpty());
  const std::string gnu = "x-1.0-cp39-abi3-manylinux2014_x86_64.whl";
  EXPECT_THAT(Of(gnu, Module("p/_C.abi3.so", "x86-64", {"libc.musl-x86_64.so.1"})), SizeIs(1));
  EXPECT_THAT(
      Of("x-1.0-cp39-abi3-manylinux2014_x86_64.musllinux_1_1_x86_64.whl", Module("p/_C.abi3.so")),
      IsEmpty());
}

}  // namespace
}  // namespace cuproof
