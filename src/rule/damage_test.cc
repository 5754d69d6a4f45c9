#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rule/test_check.h"

namespace cuproof {
namespace {

using build::Entry;
using build::Fatbin;
using build::Sass;
using build::SharedObject;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Finding> Find(const std::string& bytes) {
  return Findings(RuleDamage, JudgedFiles({{"libx.so", bytes}}, {}));
}

TEST(Damage, IsAnErrorWithItsPlace) {
  Entry wrong = Sass({80, 0});
  wrong.arch = {90, 0};
  const auto findings = Find(Fatbin({wrong}));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].id, "CP107");
  EXPECT_EQ(findings[0].severity, Severity::kError);
  EXPECT_EQ(findings[0].subject, "image sm_90");
  EXPECT_EQ(findings[0].message,
            "damaged image sm_90: the entry header says sm_90, the cubin in it is for sm_80");
  EXPECT_EQ(Joined(findings[0].evidence), "at byte 0x10\n");
  EXPECT_FALSE(findings[0].fix.empty());
  EXPECT_THAT(findings[0].verified_on, HasSubstr("other GPUs and drivers by document"));
}

TEST(Damage, OfHostContainerAndImageAreToldApart) {
  const std::string whole = SharedObject(Fatbin({Sass({90, 0})}));
  EXPECT_EQ(Find(whole.substr(0, whole.size() - 1)).at(0).subject, "ELF");
  Entry lie = Sass({90, 0});
  lie.header_size = 1;
  EXPECT_EQ(Find(Fatbin({Sass({80, 0}), lie})).at(0).subject, "container");
}

TEST(Damage, ManyPlacesAreCountedAndAFewShown) {
  Entry wrong = Sass({80, 0});
  wrong.arch = {90, 0};
  const auto findings = Find(Fatbin(std::vector<Entry>(20, wrong)));
  ASSERT_EQ(findings.size(), 6u);
  EXPECT_THAT(findings[5].message, HasSubstr("15"));
  EXPECT_EQ(findings[5].severity, Severity::kError);
}

TEST(Damage, AListThatWasCutOffIsAWarning) {
  Report report = JudgedFiles({{"libx.so", Fatbin({Sass({90, 0})})}}, {});
  report.files[0].images.listing_stopped = true;
  const auto findings = Findings(RuleDamage, report);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
}

TEST(Damage, IsSilentAboutSoundFiles) {
  EXPECT_THAT(Find(SharedObject(Fatbin(
                  {Sass({90, 0}), build::Ptx({90, 0}, {9, 0}), build::LtoIr({90, 0}, true)}))),
              IsEmpty());
  EXPECT_THAT(Find(build::CubinBytes({})), IsEmpty());
  EXPECT_THAT(Find("words"), IsEmpty());
}

}  // namespace
}  // namespace cuproof
