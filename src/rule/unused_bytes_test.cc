#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rule/test_check.h"

namespace cuproof {
namespace {

using build::Entry;
using build::Fatbin;
using build::Sass;
using testing::HasSubstr;
using testing::IsEmpty;

Entry Large(Arch arch, size_t size, Version toolkit = {13, 0}) {
  build::Cubin cubin;
  cubin.arch = arch;
  cubin.toolkit = toolkit;
  cubin.sections = {{".data", SHT_PROGBITS, std::string(size, 'x')}};
  Entry entry = Sass(arch, toolkit);
  entry.payload = build::CubinBytes(cubin);
  return entry;
}

std::vector<Finding> Find(const build::HostElf& elf) {
  return Findings(RuleUnusedBytes, JudgedFiles({{"libx.so", build::HostElfBytes(elf)}}, {}));
}

build::HostElf With(const std::vector<Entry>& entries) {
  build::HostElf elf;
  elf.sections = {{".nv_fatbin", SHT_PROGBITS, Fatbin(entries)}};
  elf.needed = {"libcudart.so.13"};
  return elf;
}

TEST(UnusedBytes, JetsonCodeInAnX86FileIsANoteFromOneMebibyteOn) {
  const auto findings = Find(With({Large({87, 0}, 2 << 20), Sass({80, 0})}));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].id, "CP109");
  EXPECT_EQ(findings[0].severity, Severity::kNote);
  EXPECT_EQ(findings[0].subject, "sm_87");
  EXPECT_THAT(findings[0].message, HasSubstr("2.1 MB"));
  EXPECT_THAT(Find(With({Large({87, 0}, 1000), Sass({80, 0})})), IsEmpty());
}

TEST(UnusedBytes, OnAarch64JetsonCodeIsOfUse) {
  build::HostElf elf = With({Large({87, 0}, 2 << 20)});
  elf.machine = EM_AARCH64;
  EXPECT_THAT(Find(elf), IsEmpty());
}

TEST(UnusedBytes, CodeOfAGpuThatEndedBeforeTheDriverThatTheFileNeeds) {
  // A CUDA 13 file runs from r580 on, and that still serves Volta.
  EXPECT_THAT(Find(With({Large({70, 0}, 2 << 20, {12, 9})})), IsEmpty());
}

TEST(UnusedBytes, IsSilentAboutDesktopCode) {
  EXPECT_THAT(Find(With({Large({75, 0}, 2 << 20), Large({120, 'a'}, 2 << 20)})), IsEmpty());
}

}  // namespace
}  // namespace cuproof
