#include "output/sarif.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "output/json.h"
#include "output/markdown.h"

namespace cuproof {
namespace {

using testing::HasSubstr;
using testing::Not;

Finding Make(const char* id, Severity severity, std::string file) {
  Finding finding;
  finding.id = id;
  finding.severity = severity;
  finding.file = std::move(file);
  finding.message = "something";
  return finding;
}

Json Parsed(const std::vector<Finding>& findings, const std::vector<Error>& problems = {}) {
  const std::string text = SarifText(findings, problems, {"check", "0.1.0", "/srv/tree"});
  const Json json = Json::parse(text, nullptr, false);
  EXPECT_FALSE(json.is_discarded());
  return json;
}

TEST(Sarif, HasRulesResultsAndFingerprints) {
  Finding source = Make("CP701", Severity::kError, "/srv/tree/a b/setup.py");
  source.subject = "line 12";
  const Json run = Parsed({Make("CP101", Severity::kNote, "x.so"), source}).at("runs").at(0);
  const Json& results = run.at("results");
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].at("ruleId"), "CP701") << "errors first";
  EXPECT_EQ(results[0].at("level"), "error");
  const Json& place = results[0].at("locations")[0].at("physicalLocation");
  EXPECT_EQ(place.at("artifactLocation").at("uri"), "a%20b/setup.py");
  EXPECT_EQ(place.at("artifactLocation").at("uriBaseId"), "%SRCROOT%");
  EXPECT_EQ(place.at("region").at("startLine"), 12);
  EXPECT_EQ(results[1].at("level"), "note");
  const Json& rules = run.at("tool").at("driver").at("rules");
  EXPECT_EQ(rules.at(results[1].at("ruleIndex").get<size_t>()).at("id"), "CP101");
  EXPECT_THAT(rules[1].at("help").at("markdown").get<std::string>(), HasSubstr("## Severity"));
}

TEST(Sarif, StandsAtTheSourceLineWhereItIsKnown) {
  Finding finding = Make("CP403", Severity::kError, "libx.so");
  finding.source_file = "/srv/tree/src/k.cu";
  finding.source_line = 7;
  const Json result = Parsed({finding}).at("runs").at(0).at("results").at(0);
  const Json& place = result.at("locations")[0].at("physicalLocation");
  EXPECT_EQ(place.at("artifactLocation").at("uri"), "src/k.cu");
  EXPECT_EQ(place.at("region").at("startLine"), 7);
  EXPECT_THAT(result.at("message").at("text").get<std::string>(), HasSubstr("libx.so"));
}

TEST(Sarif, FingerprintsKeepWhenNumbersAndFoldersChange) {
  Finding a = Make("CP402", Severity::kError, "/old/build/_C.cpython-312-x86_64-linux-gnu.so");
  a.subject = "k(int) for sm_90";
  a.message = "72 registers, 64 in the baseline";
  Finding b = a;
  b.file = "_C.abi3.so";
  b.message = "80 registers, 64 in the baseline";
  EXPECT_EQ(FindingFingerprint(a), FindingFingerprint(b));
  b.subject = "k(int) for sm_80";
  EXPECT_NE(FindingFingerprint(a), FindingFingerprint(b));
  const Json results = Parsed({a, a}).at("runs").at(0).at("results");
  EXPECT_NE(results[0].at("partialFingerprints"), results[1].at("partialFingerprints"));
}

TEST(Sarif, KeepsWithinTheBoundsAndSaysWhatIsLeftOut) {
  std::vector<Finding> findings(30'000, Make("CP101", Severity::kNote, "x.so"));
  findings.back().severity = Severity::kError;
  const Json run = Parsed(findings).at("runs").at(0);
  EXPECT_LE(run.at("results").size(), kSarifResults);
  EXPECT_EQ(run.at("results")[0].at("level"), "error");
  EXPECT_THAT(run.at("invocations")[0].at("toolExecutionNotifications").dump(),
              HasSubstr("are left out"));
  for (Finding& finding : findings) finding.message = std::string(10'000, '\x01');
  EXPECT_LE(SarifText(findings, {}, {}).size(), kSarifBytes);
}

TEST(Sarif, TakesAnyBytes) {
  Finding finding = Make("CP999", Severity::kError, "\xff\"<%!member");
  finding.subject = "\xc3";
  const Json json = Parsed({finding}, {{ErrorCode::kTruncated, "x", "\xfe", 4}});
  const Json& run = json.at("runs").at(0);
  EXPECT_EQ(run.at("results")[0]
                .at("locations")[0]
                .at("physicalLocation")
                .at("artifactLocation")
                .at("uri"),
            "%FF%22%3C%25");
  EXPECT_EQ(run.at("invocations")[0].at("executionSuccessful"), false);
}

TEST(FileUri, IsRelativeWhereItCan) {
  EXPECT_EQ(FileUri("./a/b.so", "/t"), "a/b.so");
  EXPECT_EQ(FileUri("/t/a.so", "/t"), "a.so");
  EXPECT_EQ(FileUri("/tt/a.so", "/t"), "file:///tt/a.so");
}

TEST(Markdown, ShowsTextAsItIs) {
  const std::string text = EscapeMarkdown("a|b `c` <img> @user [x](y) \x1b\n");
  for (const char* bad : {"|", "`", "<", "@", "[", "\x1b", "\n"}) {
    EXPECT_THAT(text, Not(HasSubstr(bad)));
  }
}

TEST(Markdown, HasARowForEachFinding) {
  const std::string text = FindingsMarkdown(
      "cuproof check",
      {Make("CP101", Severity::kNote, "x|y.so"), Make("CP102", Severity::kError, "z.so")}, {});
  EXPECT_THAT(text, HasSubstr("### cuproof check: 1 error, 0 warnings, 1 note\n"));
  EXPECT_LT(text.find("error CP102"), text.find("note CP101"));
  EXPECT_THAT(text, HasSubstr("x&#124;y.so"));
  std::vector<Finding> many(5000, Make("CP101", Severity::kNote, "some/path/to/a/file.so"));
  const std::string cut = FindingsMarkdown("t", many, {});
  EXPECT_LT(cut.size(), 65'536u);
  EXPECT_THAT(cut, HasSubstr(" more\n"));
}

}  // namespace
}  // namespace cuproof
