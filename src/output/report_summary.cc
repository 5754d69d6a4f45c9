#include <fmt/format.h>

#include <algorithm>

#include "output/escape.h"
#include "output/layout.h"
#include "output/number.h"
#include "output/report_facts.h"
#include "output/report_text.h"
#include "trace/reader.h"
#include "trace/summary.h"

namespace cuproof::trace {

Result<std::string> SummariseRun(const std::string& folder, const Style& style) {
  const auto run = ReadRun(folder);
  if (!run) return run.error();
  const RunReport report = MakeRunReport(*run);
  std::string out;
  const auto line = [&](std::vector<Span> text) {
    AppendParagraph(style, {0, 2, {"cuproof: ", Tone::kDim}, std::move(text)}, out);
  };
  uint64_t loads = 0;
  for (const LoadedKind& kind : report.images) loads += kind.loads;
  const std::string graphs =
      report.graph_launches
          ? fmt::format(", {}", Count(report.graph_launches, "graph launch", "graph launches"))
          : "";
  if (!report.recorded) {
    line({{"nothing was recorded: --mode idle"}});
  } else if (run->processes.empty()) {
    line({{"no process called the driver"}});
  } else {
    line({{fmt::format("{}{} of {} by {}{}; {} loaded",
                       Count(report.kernel_launches, "launch", "launches"), graphs,
                       Count(report.kernels.size(), "kernel"),
                       Count(run->processes.size(), "process", "processes"), FailedText(report),
                       Count(loads, "image"))}});
  }
  if (report.jit.compiled_ns + report.jit.late_ns > kLongNs * 10)
    line({{fmt::format(
        "by their times, {} went into compiling or loading code",
        HumanSeconds(static_cast<double>(report.jit.compiled_ns + report.jit.late_ns) / 1e9))}});
  constexpr size_t kShown = 3;
  size_t faults = 0;
  size_t notes = 0;
  for (const Explanation& explanation : report.explanations) {
    if (explanation.finding.severity == Severity::kNote) {
      ++notes;
      continue;
    }
    if (++faults <= kShown) AppendExplanation(report, explanation, style, out);
  }
  if (faults > kShown)
    line({{Count(faults - kShown, "more error or warning", "more errors and warnings"),
           Tone::kYellow}});
  if (notes)
    line({{fmt::format("{} returned errors that programs often expect",
                       Count(notes, "other call"))}});
  if (!report.losses.empty() || !run->problems.empty())
    line({{fmt::format("{} in the record, told by the report",
                       Count(report.losses.size() + run->problems.size(), "gap"))}});
  line({{"the whole report: "},
        {EscapeTerminal(CommandText({"cuproof", "report", run->folder})), Tone::kBold}});
  return out;
}

}  // namespace cuproof::trace
