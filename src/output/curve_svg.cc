#include <fmt/format.h>

#include <iterator>

#include "output/curve_text.h"
#include "output/escape.h"

namespace cuproof {
namespace {

constexpr double kWidth = 640;
constexpr double kHeight = 240;
constexpr double kLeft = 56;
constexpr double kTop = 44;
constexpr double kRow = kHeight + 100;

std::string XmlText(const std::string& text) {
  std::string out;
  for (const char c : EscapeTerminal(text)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// Where one of the charts lies, and what its axes mean.
struct Chart {
  double top = 0;
  uint32_t least = 0;
  uint32_t most = 0;
  uint32_t warps = 0;
  const char* label = "";

  double X(double value) const { return kLeft + kWidth * (value - least) / (most - least); }
  double Y(double value) const { return top + kHeight * (1 - value / warps); }
};

void AppendAxes(const Chart& chart, uint32_t step, fmt::memory_buffer& out) {
  const auto to = std::back_inserter(out);
  for (uint32_t warps = 0; warps <= chart.warps; warps += chart.warps / 4) {
    fmt::format_to(to,
                   "<line x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>"
                   "<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                   kLeft, kLeft + kWidth, chart.Y(warps), chart.Y(warps), kLeft - 8,
                   chart.Y(warps) + 4, warps);
  }
  for (uint32_t value = chart.least; value <= chart.most; value += step) {
    fmt::format_to(to, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                   chart.X(value), chart.top + kHeight + 18, value);
  }
  fmt::format_to(to, "<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                 kLeft + kWidth / 2, chart.top + kHeight + 38, chart.label);
}

// A block takes whole warps: what holds for 160 threads holds from 129 on.
std::vector<CurveStep> FromTheFirstThread(std::vector<CurveStep> steps) {
  constexpr uint32_t kWarp = 32;
  for (CurveStep& step : steps) step.first = step.first > kWarp ? step.first - kWarp + 1 : 1;
  return steps;
}

// A line in steps: a point of one value reaches to the next.
void AppendLine(const Chart& chart, const std::vector<CurveStep>& steps, uint32_t now,
                fmt::memory_buffer& out) {
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "<polyline fill=\"none\" stroke=\"#1a6\" stroke-width=\"2\" points=\"");
  double dot = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const double end = i + 1 < steps.size() ? steps[i + 1].first : steps[i].last;
    fmt::format_to(to, "{:.1f},{:.1f} {:.1f},{:.1f} ", chart.X(steps[i].first),
                   chart.Y(steps[i].warps), chart.X(end), chart.Y(steps[i].warps));
    if (now >= steps[i].first && now <= steps[i].last) dot = steps[i].warps;
  }
  fmt::format_to(to, "\"/>\n<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"#c33\"/>\n",
                 chart.X(now), chart.Y(dot));
}

}  // namespace

std::string CurveSvg(const std::string& name, const Curves& curves) {
  fmt::memory_buffer out;
  const auto to = std::back_inserter(out);
  const uint32_t warps = curves.now.sm_warps;
  fmt::format_to(
      to,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{:.0f}\" y=\"24\" font-size=\"14\">{}</text>\n",
      kLeft + kWidth + 24, kTop + 2 * kRow - 40, kLeft,
      XmlText(fmt::format("{} on sm_{}: warps of a multiprocessor", name, curves.now.sm)));
  const std::string registers = fmt::format("registers, at {} threads a block", curves.now.block);
  const Chart by_registers = {kTop, 16, 256, warps, registers.c_str()};
  AppendAxes(by_registers, 16, out);
  AppendLine(by_registers, curves.by_registers, curves.registers, out);
  const std::string threads = fmt::format("threads a block, with {} registers", curves.registers);
  const Chart by_block = {kTop + kRow, 0, 1024, warps, threads.c_str()};
  AppendAxes(by_block, 128, out);
  AppendLine(by_block, FromTheFirstThread(curves.by_block), curves.now.block, out);
  fmt::format_to(to, "</svg>\n");
  return fmt::to_string(out);
}

}  // namespace cuproof
