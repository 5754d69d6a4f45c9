#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "bytes/embedded.h"
#include "rule/test_check.h"

// The example of a page is what its rule says.
namespace cuproof {
namespace {

using build::Entry;
using build::Fatbin;
using build::Ptx;
using build::Sass;
using build::SharedObject;
using testing::HasSubstr;

// The words of a page with one space between them: examples are folded.
std::string Words(std::string_view id) {
  std::string words;
  for (const EmbeddedText& page : EmbeddedPages()) {
    if (page.name != id) continue;
    std::istringstream text{std::string(page.text)};
    for (std::string word; text >> word;) words += word + ' ';
  }
  return words;
}

void ExpectShown(const std::vector<Finding>& findings) {
  ASSERT_FALSE(findings.empty());
  for (const Finding& finding : findings) {
    const std::string page = Words(finding.id);
    EXPECT_THAT(page, HasSubstr(std::string(SeverityName(finding.severity)) + "[" + finding.id));
    EXPECT_THAT(page, HasSubstr(finding.message + ' '));
    if (page.find(" fix: ") == std::string::npos) continue;
    EXPECT_THAT(page, HasSubstr(finding.fix + ' '));
  }
}

TEST(Pages, ShowWhatTheRulesOfImagesSay) {
  const std::vector<Entry> scale = {Sass({80, 0}), Sass({90, 'a'}), Sass({100, 'a'})};
  const auto no_image = FindingsOf(RuleNoImage, scale, {"B300"});
  ASSERT_EQ(no_image.size(), 1u);
  EXPECT_THAT(Words("CP101"), HasSubstr(no_image[0].message + " it holds sm_80 sm_90a sm_100a "));
  EXPECT_THAT(Words("CP101"), HasSubstr(no_image[0].evidence.at(2) + ' '));
  ExpectShown(FindingsOf(RuleJit, {Ptx({75, 0}, {7, 0})}, {"H100"}));
  const std::string named = SharedObject(Fatbin(scale));
  ExpectShown(Findings(RuleDeclaredArch, JudgedFiles({{"libscale_sm103.so", named}}, {})));
  Entry tile;
  tile.kind = fatbin::kKindTileIr;
  tile.payload = std::string("\x7FTileIR\0", 8);
  ExpectShown({FindingsOf(RuleUnknown, {tile}, {"H100"}, "580").at(0)});
  ExpectShown(Findings(RulePtxInvalid,
                       JudgedFiles({{"k.ptx", build::PtxText({7, 5}, "sm_90")}}, {"H100"})));
  const std::string runs = Fatbin({Sass({80, 0}), Sass({90, 0})});
  ExpectShown(Findings(
      RuleTegraInDesktop,
      JudgedFiles({{"libmath.so", SharedObject(runs + runs + Fatbin({Sass({87, 0})}))}}, {})));
}

TEST(Pages, ShowWhatTheRulesOfDriversSay) {
  ExpectShown(
      FindingsOf(RulePtxDriver, {Sass({80, 0}), Ptx({80, 0}, {9, 1})}, {"H100"}, "580.95.05"));
  ExpectShown(FindingsOf(RuleRuntimeDriver, {Sass({90, 0})}, {"H100"}, "570.124.06"));
  const std::string volta = SharedObject(Fatbin({Sass({70, 0}, {12, 6})}), 12);
  ExpectShown(Findings(RuleGpuDropped, JudgedFiles({{"x.so", volta}}, {"V100"}, "590.48.01")));
}

TEST(Pages, ShowWhatTheRulesOfContentsSay) {
  build::Cubin cubin;
  cubin.arch = {53, 0};
  cubin.sections = {{".data", SHT_PROGBITS, std::string(55500, 'x')}};
  Entry jetson = Sass({53, 0}, {12, 9});
  jetson.payload = build::CubinBytes(cubin);
  const std::string large = SharedObject(Fatbin(std::vector<Entry>(34, jetson)), 12);
  ExpectShown(Findings(RuleUnusedBytes, JudgedFiles({{"x.so", large}}, {})));
  const std::string zstd =
      SharedObject(Fatbin({build::Compressed(Sass({90, 0}, {12, 4}), Compression::kZstd)}), 12);
  ExpectShown(Findings(RuleZstdDriver, JudgedFiles({{"x.so", zstd}}, {"H100"}, "535.183.01")));
  ExpectShown(FindingsOf(RuleLtoOnly, {build::LtoIr({90, 0}, true)}, {"H100"}));
  build::HostElf host;
  host.dynamic_names = {"__cudaRegisterFatBinary"};
  ExpectShown(Findings(RuleHostOnly, JudgedFiles({{"x.so", build::HostElfBytes(host)}}, {})));
}

TEST(Pages, ShowWhatTheRuleOfModulesSays) {
  std::string fatbins;
  for (int i = 0; i < 8; ++i) fatbins += Fatbin({Sass({80, 0}, {12, 9}), Sass({90, 0}, {12, 9})});
  fatbins += Fatbin({Sass({75, 0}, {12, 9}), Sass({80, 0}, {12, 9})});
  fatbins += Fatbin({Ptx({80, 0}, {8, 8})});
  ExpectShown(Findings(
      RulePartial, JudgedFiles({{"_C.so", SharedObject(fatbins, 12)}}, {"H100"}, "570.124.06")));
}

}  // namespace
}  // namespace cuproof
