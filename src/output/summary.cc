#include "output/summary.h"

#include <algorithm>

namespace cuproof {

const char* FailOnName(FailOn fail_on) {
  switch (fail_on) {
    case FailOn::kError:
      return "error";
    case FailOn::kWarning:
      return "warning";
    case FailOn::kNever:
      break;
  }
  return "never";
}

std::optional<FailOn> ParseFailOn(std::string_view text) {
  for (const FailOn fail_on : {FailOn::kError, FailOn::kWarning, FailOn::kNever}) {
    if (text == FailOnName(fail_on)) return fail_on;
  }
  return std::nullopt;
}

SeverityCounts CountFindings(const Report& report) {
  SeverityCounts counts;
  for (const Finding& finding : report.findings) {
    switch (finding.severity) {
      case Severity::kError:
        ++counts.errors;
        break;
      case Severity::kWarning:
        ++counts.warnings;
        break;
      case Severity::kNote:
        ++counts.notes;
        break;
    }
  }
  return counts;
}

int ExitCode(const Report& report, FailOn fail_on) {
  if (!report.problems.empty()) return 2;
  const SeverityCounts counts = CountFindings(report);
  if (fail_on == FailOn::kNever) return 0;
  const bool warned = fail_on == FailOn::kWarning && counts.warnings > 0;
  return counts.errors > 0 || warned ? 1 : 0;
}

bool HasDeviceCode(const FileReport& file) {
  const std::vector<Image>& images = file.images.images;
  return std::any_of(images.begin(), images.end(),
                     [](const Image& image) { return image.has_code.value_or(true); });
}

uint64_t FilesWithDeviceCode(const Report& report) {
  return static_cast<uint64_t>(
      std::count_if(report.files.begin(), report.files.end(), HasDeviceCode));
}

}  // namespace cuproof
