#include "rule/rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "bytes/embedded.h"
#include "rule/test_check.h"

namespace cuproof {
namespace {

using build::Fatbin;
using build::Ptx;
using build::Sass;
using build::SharedObject;
using testing::ElementsAre;
using testing::IsEmpty;

FileContext ContextOf(const Report& report, size_t file = 0) {
  return {report.files[file], report, report.target};
}

TEST(GpuList, NamesProductsOfAFewGpusOnly) {
  const Report report = JudgedFiles({{"x.so", SharedObject(Fatbin({Sass({90, 0})}))}},
                                    {"T4", "A100", "H100", "B200"});
  const FileContext context = ContextOf(report);
  EXPECT_EQ(GpuList(context, {}), "");
  EXPECT_EQ(GpuList(context, {2}), "sm_90 (H100)");
  EXPECT_EQ(GpuList(context, {0, 2}), "sm_75 (T4) and sm_90 (H100)");
  EXPECT_EQ(GpuList(context, {0, 1, 2, 3}), "sm_75, sm_80, sm_90 and sm_100");
}

TEST(GpusWith, AreThoseOfOneOutcomeAndReason) {
  const Report report =
      JudgedFiles({{"x.so", SharedObject(Fatbin({Sass({80, 0})}))}}, {"T4", "A100", "H100"});
  EXPECT_THAT(GpusWith(ContextOf(report), Outcome::kDoesNotRun, Reason::kNoImage),
              ElementsAre(0, 2));
  EXPECT_THAT(GpusWith(ContextOf(report), Outcome::kRunsSass, Reason::kNone), ElementsAre(1));
  EXPECT_THAT(GpusWith(ContextOf(report), Outcome::kRunsJit, Reason::kNone), IsEmpty());
}

TEST(ImageEvidence, HasTargetPlaceAndSection) {
  const Report report = JudgedFiles(
      {{"x.so", SharedObject(Fatbin({Ptx({90, 0}, {9, 1})}))}, {"y", Fatbin({Sass({90, 'a'})})}},
      {});
  const FileImages& images = report.files[0].images;
  EXPECT_THAT(
      ImageEvidence(images, 0),
      testing::MatchesRegex("compute_90 \\(PTX ISA 9.1\\) at byte 0x[0-9a-f]+ of .nv_fatbin"));
  EXPECT_EQ(ImageEvidence(report.files[1].images, 0), "sm_90a at byte 0x10");
}

TEST(TargetList, HasEachTargetOnceCubinsFirst) {
  const Report report =
      JudgedFiles({{"x.so", Fatbin({Ptx({80, 0}, {8, 0}), Sass({90, 'a'}), Sass({80, 0}),
                                    Sass({80, 0}), build::LtoIr({75, 0}), Ptx({80, 0}, {8, 0})})}},
                  {});
  EXPECT_EQ(TargetList(report.files[0].images), "sm_80 sm_90a compute_80 lto_75");
}

TEST(FailureSeverity, DependsOnNamesAndSiblings) {
  const std::string eighty = SharedObject(Fatbin({Sass({80, 0})}));
  const std::string hundred = SharedObject(Fatbin({Sass({100, 0})}));
  const Report unnamed = JudgedFiles({{"x.so", eighty}}, {});
  EXPECT_EQ(FailureSeverity(ContextOf(unnamed), {0}), Severity::kNote);
  const Report alone = JudgedFiles({{"x.so", eighty}}, {"B200"});
  EXPECT_EQ(FailureSeverity(ContextOf(alone), {0}), Severity::kError);
  const Report variants = JudgedFiles({{"x_80.so", eighty}, {"x_100.so", hundred}}, {"B200"});
  EXPECT_EQ(FailureSeverity(ContextOf(variants), {0}), Severity::kNote);
  const Report optional = JudgedFiles({{"p/liba.so", eighty}, {"p/libb.so", hundred}}, {"B200"});
  EXPECT_EQ(FailureSeverity(ContextOf(optional), {0}), Severity::kWarning);
}

TEST(FailureSeverity, OfSeveralGpusTheWorst) {
  const std::string eighty = SharedObject(Fatbin({Sass({80, 0})}));
  const std::string hundred = SharedObject(Fatbin({Sass({100, 0})}));
  const Report report = JudgedFiles({{"x_80.so", eighty}, {"x_100.so", hundred}}, {"B200", "H100"});
  EXPECT_EQ(FailureSeverity(ContextOf(report), {0, 1}), Severity::kError);
  EXPECT_EQ(FailureSeverity(ContextOf(report), {0}), Severity::kNote);
}

TEST(SeverityName, IsTheWordOfTheOutput) {
  EXPECT_STREQ(SeverityName(Severity::kError), "error");
  EXPECT_STREQ(SeverityName(Severity::kWarning), "warning");
  EXPECT_STREQ(SeverityName(Severity::kNote), "note");
}

TEST(RunRules, OfASoundFileSayNothing) {
  const Report report = JudgedFiles(
      {{"pkg/_C.so",
        SharedObject(Fatbin({Sass({75, 0}), Sass({80, 0}), Sass({86, 0}), Sass({90, 'a'}),
                             Sass({100, 'f'}), Sass({120, 0}), Ptx({120, 0}, {9, 0})}))}},
      {"T4", "A100", "RTX 3090", "RTX 4090", "H100", "B200", "B300", "RTX 5090", "GB10"},
      "580.95.05");
  std::vector<Finding> findings;
  RunRules(ContextOf(report), findings);
  EXPECT_THAT(findings, IsEmpty());
}

TEST(RunRules, EveryIdHasAPageAndEveryFindingASource) {
  build::Entry damaged = Sass({80, 0});
  damaged.arch = {86, 0};
  build::Entry other;
  other.kind = 0x40;
  const std::string files[] = {SharedObject(Fatbin({Sass({87, 0})})),
                               SharedObject(Fatbin({Ptx({75, 0}, {9, 1})})),
                               SharedObject(Fatbin({damaged, other})),
                               SharedObject(Fatbin({build::LtoIr({90, 0})})),
                               SharedObject(Fatbin({Ptx({107, 'a'}, {8, 8})})),
                               SharedObject("")};
  std::set<std::string> ids;
  for (const std::string& bytes : files) {
    for (const char* driver : {"580", "570", "590", ""}) {
      const Report report = JudgedFiles({{"x_sm100.so", bytes}}, {"V100", "H100"}, driver);
      std::vector<Finding> findings;
      RunRules(ContextOf(report), findings);
      for (const Finding& finding : findings) {
        ids.insert(finding.id);
        EXPECT_FALSE(finding.source.empty()) << finding.id << ": " << finding.message;
      }
    }
  }
  EXPECT_GE(ids.size(), 10u);
  std::set<std::string> pages;
  for (const EmbeddedText& page : EmbeddedPages()) pages.insert(std::string(page.name));
  for (const std::string& id : ids) EXPECT_TRUE(pages.contains(id)) << id;
}

}  // namespace
}  // namespace cuproof
