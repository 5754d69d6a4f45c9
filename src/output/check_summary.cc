#include <fmt/format.h>

#include "output/check_parts.h"
#include "output/layout.h"
#include "output/number.h"

namespace cuproof {
namespace {

void AddCount(uint64_t count, std::string_view what, Tone tone, std::vector<Span>& text) {
  if (count == 0) return;
  text.push_back({text.empty() ? "" : ", "});
  text.push_back({Count(count, what), tone});
}

std::vector<Span> FoundText(const Report& report) {
  const SeverityCounts counts = CountFindings(report);
  std::vector<Span> text;
  if (!report.problems.empty()) {
    text.push_back({Count(report.problems.size(), "input") + " could not be read", Tone::kBoldRed});
  }
  AddCount(counts.errors, "error", Tone::kBoldRed, text);
  AddCount(counts.warnings, "warning", Tone::kBoldYellow, text);
  AddCount(counts.notes, "note", Tone::kBoldCyan, text);
  if (text.empty()) text.push_back({"nothing found", Tone::kBoldGreen});
  return text;
}

std::string LookedAt(const Report& report) {
  return fmt::format("{} looked at, {} with device code, {} in {}",
                     Count(report.files_seen, "file"), Thousands(FilesWithDeviceCode(report)),
                     HumanBytes(report.bytes_read), HumanSeconds(report.seconds));
}

// What the code says where the counts alone do not.
std::string ExitText(const Report& report, FailOn fail_on, int code) {
  const SeverityCounts counts = CountFindings(report);
  if (code != 0 || fail_on == FailOn::kWarning) return "";
  if (counts.errors > 0) return " (--fail-on never)";
  return counts.warnings > 0 ? " (no error)" : "";
}

}  // namespace

void AppendSummary(const Report& report, const Style& style, const RunInfo& run, std::string& out) {
  AppendParagraph(style, {0, 2, {}, {{LookedAt(report), Tone::kDim}}}, out);
  if (report.files_not_loaded > 0) {
    const std::string text =
        fmt::format("loader not asked about {}: name the environment with --env",
                    Count(report.files_not_loaded, "file"));
    AppendParagraph(style, {0, 2, {}, {{text, Tone::kDim}}}, out);
  }
  const int code = ExitCode(report, run.fail_on);
  const Span label{fmt::format("exit {}: ", code), code == 0 ? Tone::kBoldGreen : Tone::kBoldRed};
  std::vector<Span> text = FoundText(report);
  text.push_back({ExitText(report, run.fail_on, code)});
  AppendParagraph(style, {0, 2, label, text}, out);
}

}  // namespace cuproof
