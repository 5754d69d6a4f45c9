#include "cli/curve.h"

#include "cli/shared_options.h"
#include "output/curve_text.h"
#include "output/kernel_name.h"
#include "output/number.h"
#include "symbol/demangle.h"

namespace cuproof {
namespace {

constexpr size_t kUsualCurves = 3;

}  // namespace

Result<std::string> AnswerCurve(const Survey& survey, const LaunchQuestion& question, size_t top,
                                const std::string& svg, const Style& style) {
  std::string out;
  size_t shown = 0;
  size_t others = 0;
  for (const FileKernels& file : survey.files) {
    for (const KernelLine& line : KernelLines(file, question, KernelOrder::kName)) {
      if (!line.answer) continue;
      const auto curves = CurvesOf(line.row->resources, line.answer->sm, question);
      if (!curves) continue;
      if (shown >= (top ? top : kUsualCurves)) {
        ++others;
        continue;
      }
      if (shown == 0 && !svg.empty()) {
        const auto written = WriteOutput(svg, CurveSvg(DemangledOrSame(*line.row->name), *curves));
        if (!written) return written.error();
      }
      out += (shown ? "\n" : "") + CurveText(ShortKernelName(*line.row->name, 60), *curves, style);
      ++shown;
    }
  }
  if (shown == 0) {
    return Error{ErrorCode::kUsage,
                 "--curve: no kernel of that name whose registers and GPU are known; "
                 "`--sort name --verbose` lists them",
                 "", std::nullopt};
  }
  if (others) {
    out += "\n" + Paint(style, Tone::kDim,
                        "... and " + Count(others, "more kernel") + ": --top N shows N");
    out += "\n";
  }
  return out;
}

}  // namespace cuproof
