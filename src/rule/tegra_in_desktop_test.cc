#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rule/test_check.h"

namespace cuproof {
namespace {

using build::Fatbin;
using build::Sass;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Finding> Find(const std::string& fatbins, uint16_t machine = EM_X86_64) {
  build::HostElf elf;
  elf.machine = machine;
  elf.sections = {{".nv_fatbin", SHT_PROGBITS, fatbins}};
  return Findings(RuleTegraInDesktop, JudgedFiles({{"_C.so", build::HostElfBytes(elf)}}, {}));
}

// Report R03.
TEST(TegraInDesktop, AKernelFamilyForJetsonOnlyIsAWarning) {
  const auto findings =
      Find(Fatbin({Sass({80, 0}), Sass({90, 0})}) + Fatbin({Sass({87, 0}), Sass({110, 0})}));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].id, "CP115");
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_THAT(findings[0].message, HasSubstr("1 of 2"));
  EXPECT_THAT(Joined(findings[0].evidence), HasSubstr("sm_87 at byte"));
}

TEST(TegraInDesktop, IsSilentOnAarch64) {
  EXPECT_THAT(Find(Fatbin({Sass({87, 0})}), EM_AARCH64), IsEmpty());
}

TEST(TegraInDesktop, IsSilentWhenADesktopTargetOrPtxStandsBeside) {
  EXPECT_THAT(Find(Fatbin({Sass({80, 0}), Sass({87, 0})})), IsEmpty());
  EXPECT_THAT(Find(Fatbin({Sass({87, 0}), build::Ptx({87, 0}, {8, 0})})), IsEmpty());
  EXPECT_THAT(Find(Fatbin({})), IsEmpty());
}

// cuBLAS and the like: unused bytes there, and not a mistake.
TEST(TegraInDesktop, IsSilentInLibrariesWithAModuleForEachArchitecture) {
  std::string fatbins;
  for (int i = 0; i < 5; ++i) {
    for (const uint32_t sm : {75u, 80u, 87u, 90u}) fatbins += Fatbin({Sass({sm, 0})});
  }
  EXPECT_THAT(Find(fatbins), IsEmpty());
}

}  // namespace
}  // namespace cuproof
