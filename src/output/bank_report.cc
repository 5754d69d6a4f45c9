#include "output/bank_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "output/escape.h"
#include "output/json.h"
#include "output/number.h"

namespace cuproof {
namespace {

std::string BlockText(const std::array<uint32_t, 3>& block) {
  std::string text = std::to_string(block[0]);
  if (block[1] > 1 || block[2] > 1) text += fmt::format("x{}", block[1]);
  if (block[2] > 1) text += fmt::format("x{}", block[2]);
  return text;
}

std::string Formula(const BankFix& fix) {
  return fix.kind == BankFix::Kind::kPadding
             ? fmt::format("element + element / {} * {}", fix.every, fix.elements)
             : fmt::format("element ^ (element / {} & {})", fix.every, fix.mask);
}

std::string FixText(const BankFix& fix) {
  const std::string gain = Count(fix.wavefronts, "wavefront");
  if (fix.kind == BankFix::Kind::kSwizzle) {
    return fmt::format("  swizzle: {}: {}, no bytes more\n", Formula(fix), gain);
  }
  return fmt::format("  padding: rows of {} instead of {} elements: {}, {} more\n",
                     fix.every + fix.elements, fix.every, gain, Count(fix.bytes, "byte"));
}

std::string AnswerText(const BankAnswer& answer, const std::array<uint32_t, 3>& block) {
  const WarpCost cost = CostOfBlock(answer.warps, answer.access.element_bytes);
  uint32_t worst = 0;
  for (const LaneElements& warp : answer.warps)
    worst = std::max(worst, CostOfWarp(warp, answer.access.element_bytes).wavefronts);
  std::string text =
      fmt::format("{} of {}, block {}: {} in {}", EscapeTerminal(answer.access.index.text()),
                  Count(answer.access.element_bytes, "byte"), BlockText(block),
                  Count(cost.wavefronts, "wavefront"), Count(answer.warps.size(), "warp"));
  if (cost.as_store != cost.wavefronts) text += fmt::format(" ({} as a store)", cost.as_store);
  if (cost.wavefronts == cost.least) return text + ", no conflicts\n";
  return text + fmt::format(", up to {} a warp; {} without conflicts\n", worst, cost.least);
}

Json AnswerJson(const BankAnswer& answer) {
  Json warps = Json::array();
  for (const LaneElements& warp : answer.warps) {
    const WarpCost cost = CostOfWarp(warp, answer.access.element_bytes);
    warps.push_back(
        {{"wavefronts", cost.wavefronts}, {"least", cost.least}, {"as_store", cost.as_store}});
  }
  const WarpCost all = CostOfBlock(answer.warps, answer.access.element_bytes);
  return {{"element_bytes", answer.access.element_bytes},
          {"index", answer.access.index.text()},
          {"wavefronts", all.wavefronts},
          {"least", all.least},
          {"as_store", all.as_store},
          {"warps", std::move(warps)}};
}

Json FixJson(const BankFix& fix) {
  Json json = {{"kind", fix.kind == BankFix::Kind::kPadding ? "padding" : "swizzle"},
               {"formula", Formula(fix)},
               {"every", fix.every}};
  if (fix.kind == BankFix::Kind::kPadding) {
    json["elements"] = fix.elements;
  } else {
    json["mask"] = fix.mask;
  }
  json["wavefronts"] = fix.wavefronts;
  json["bytes"] = fix.bytes;
  return json;
}

}  // namespace

std::string BankText(const BankQuestion& question) {
  std::string text;
  for (const BankAnswer& answer : question.answers) text += AnswerText(answer, question.block);
  for (const BankFix& fix : question.fixes) text += FixText(fix);
  return text;
}

std::string BankJson(const BankQuestion& question, const char* version) {
  Json accesses = Json::array();
  for (const BankAnswer& answer : question.answers) accesses.push_back(AnswerJson(answer));
  Json fixes = Json::array();
  for (const BankFix& fix : question.fixes) fixes.push_back(FixJson(fix));
  const Json report = {
      {"schema", 1},
      {"tool", "cuproof"},
      {"version", version},
      {"bank", {{"block", question.block}, {"accesses", accesses}, {"fixes", fixes}}}};
  return DumpJson(report, 2) + "\n";
}

}  // namespace cuproof
