#include "output/curve_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace cuproof {
namespace {

constexpr size_t kLongestBar = 64;

std::string Bar(uint32_t warps, uint32_t all, const Style& style) {
  const size_t room = style.width > 40 ? style.width - 32 : 8;
  const size_t longest = std::min(kLongestBar, room);
  return std::string((size_t{warps} * longest + all - 1) / all, '#');
}

void AppendSteps(const std::vector<CurveStep>& steps, uint32_t now, uint32_t all,
                 const Style& style, std::string& out) {
  for (const CurveStep& step : steps) {
    const bool here = now >= step.first && now <= step.last;
    const std::string range = step.first == step.last ? fmt::format("{}", step.first)
                                                      : fmt::format("{}-{}", step.first, step.last);
    const std::string line = step.warps == 0 ? fmt::format("{:>9}  does not launch", range)
                                             : fmt::format("{:>9} {:>6}  {}", range, step.warps,
                                                           Bar(step.warps, all, style));
    out += (here ? "> " : "  ") + Paint(style, here ? Tone::kBold : Tone::kPlain, line) + "\n";
  }
}

}  // namespace

std::string CurveText(const std::string& name, const Curves& curves, const Style& style) {
  const LaunchAnswer& now = curves.now;
  std::string out =
      Paint(style, Tone::kBold, name) +
      fmt::format("  on sm_{}: {} registers, {} threads a block, {}/{} warps\n", now.sm,
                  curves.registers, now.block, now.occupancy.warps, now.sm_warps);
  out +=
      Paint(style, Tone::kDim, fmt::format("  registers  warps, at {} threads a block", now.block));
  out += "\n";
  AppendSteps(curves.by_registers, curves.registers, now.sm_warps, style, out);
  out += Paint(style, Tone::kDim,
               fmt::format("    threads  warps, with {} registers", curves.registers));
  out += "\n";
  AppendSteps(curves.by_block, now.block, now.sm_warps, style, out);
  return out;
}

}  // namespace cuproof
