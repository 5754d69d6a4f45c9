#include "output/check_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "output/test_report.h"

namespace cuproof {
namespace {

TEST(CheckJson, Members) {
  RunInfo run;
  run.version = "1.2.3";
  const Json json = CheckJson(test::OneFileReport(), run);
  EXPECT_EQ(json["schema"], "cuproof.check/1");
  EXPECT_EQ(json["version"], "1.2.3");
  EXPECT_EQ(json["target"]["driver"], nullptr);
  const Json& file = json["files"].at(0);
  EXPECT_EQ(file["kind"], "ELF");
  EXPECT_EQ(file["needed_runtime"], nullptr);
  EXPECT_EQ(file["counts"]["images"], 2);
  EXPECT_EQ(file["images_by_target"].at(0)["target"], "sm_90");
  EXPECT_EQ(file["images_by_target"].at(0)["toolkit"], "13.0");
  EXPECT_EQ(file["images_by_target"].at(1)["isa"], "9.0");
  const Json& fails = file["verdicts"].at(0);
  EXPECT_EQ(fails["gpu"], "sm_75");
  EXPECT_EQ(fails["outcome"], "no");
  EXPECT_EQ(fails["error"], 209);
  EXPECT_EQ(fails["driver_floor"], nullptr);
  EXPECT_EQ(fails["image"]["offset"], 0x1010);
  const Json& runs = file["verdicts"].at(1);
  EXPECT_EQ(runs["reason"], nullptr);
  EXPECT_EQ(runs["driver_floor"]["number"], "580.65.06");
  EXPECT_EQ(json["findings"].at(0)["id"], "CP101");
  EXPECT_EQ(json["summary"]["exit_code"], 1);
}

TEST(CheckJson, BytesThatAreNotUtf8) {
  Report report = test::OneFileReport();
  report.files[0].path = "lib\xff\x1b.so";
  report.problems = {{ErrorCode::kNotFound, "no such file", "\xc0", 12}};
  const std::string text = DumpJson(CheckJson(report), 2);
  EXPECT_NE(text.find("lib\\ufffd\\u001b.so"), std::string::npos);
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7F));
}

TEST(CheckJsonLines, OneLineEach) {
  Report report = test::OneFileReport();
  report.problems = {{ErrorCode::kNotFound, "no such file", "gone\n.so", std::nullopt}};
  std::istringstream lines(CheckJsonLines(report));
  std::vector<std::string> types;
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line, nullptr, false);
    ASSERT_TRUE(json.is_object()) << line;
    types.push_back(json["type"]);
  }
  const std::vector<std::string> expected = {"run", "file", "finding", "problem", "summary"};
  EXPECT_EQ(types, expected);
}

TEST(JsonText, SameAsDump) {
  for (const std::string text : {"", "plain", "a\"b\\c", "\n\t\x7f", "größe", "\xff", "\u202e"}) {
    EXPECT_EQ(JsonText(text), DumpJson(Json(text), -1));
  }
}

}  // namespace
}  // namespace cuproof
