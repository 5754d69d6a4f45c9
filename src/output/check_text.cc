#include "output/check_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "output/check_parts.h"
#include "output/escape.h"
#include "output/layout.h"
#include "output/number.h"
#include "output/short_path.h"

namespace cuproof {
namespace {

using Files = std::vector<const FileReport*>;

std::string TargetGpus(const Target& target) {
  const size_t count = target.gpus.size();
  if (!target.named) return fmt::format("no GPU named, {}", Count(count, "architecture"));
  bool present = count > 0;
  for (const Gpu& gpu : target.gpus) present &= gpu.present;
  std::vector<std::string> newer;
  for (const Gpu& gpu : target.gpus) {
    if (!gpu.in_data) newer.push_back(GpuTarget(gpu));
  }
  std::string text = (present ? "this machine, " : "") + Count(count, "GPU");
  if (!newer.empty()) text += fmt::format(" ({} newer than this data)", fmt::join(newer, ", "));
  return text;
}

std::string TargetDriver(const Target& target) {
  if (!target.driver) return "driver not given";
  const Driver& driver = *target.driver;
  std::string text = "driver " + EscapeTerminal(driver.text);
  const std::string cuda = VersionText(driver.cuda);
  if (driver.newer_than_data) return text + " (newer than this version's tables)";
  if (driver.cuda.known() && cuda != driver.text) text += " (CUDA " + cuda + ")";
  return text;
}

// Files with device code by root; files that were named one by one come as one group.
std::map<uint32_t, Files> ByRoot(const Report& report) {
  constexpr uint32_t kNamedFiles = UINT32_MAX;
  std::map<uint32_t, Files> groups;
  for (const FileReport& file : report.files) {
    const bool known = file.root < report.roots.size();
    const bool single = !known || report.roots[file.root].kind == RootKind::kFile;
    // A file that was named is shown even when its images turn out to be empty.
    if (single ? file.images.images.empty() : !HasDeviceCode(file)) continue;
    groups[single ? kNamedFiles : file.root].push_back(&file);
  }
  return groups;
}

void AppendRootHeading(const Report& report, const Files& files, const Style& style,
                       std::string& out) {
  const uint32_t index = files.front()->root;
  if (index >= report.roots.size() || report.roots[index].kind == RootKind::kFile) return;
  const Root& root = report.roots[index];
  std::string what = RootKindName(root.kind);
  if (!root.name.empty()) what += " " + EscapeTerminal(root.name);
  what += ", " + Count(files.size(), "file") + " with device code";
  AppendParagraph(style, {0, 2, {EscapeTerminal(root.argument) + "  ", Tone::kBold}, {{what}}},
                  out);
}

void AppendGroup(const Report& report, const Files& files, const Style& style, std::string& out) {
  if (files.size() == 1) {
    AppendFile(report, *files.front(), style, out);
  } else {
    AppendRootHeading(report, files, style, out);
    AppendMatrix(report, files, style, out);
  }
  out += '\n';
}

bool StartsWith(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

// What was named and has nothing to judge must not look as if it were fine. What could not be read
// or was not looked into is said elsewhere.
std::vector<std::string> RootsWithoutCode(const Report& report) {
  std::set<uint32_t> with_code;
  for (const FileReport& file : report.files) {
    const bool code = HasDeviceCode(file) || !file.images.images.empty();
    if (code || !file.images.damage.empty()) with_code.insert(file.root);
  }
  std::vector<std::string> names;
  for (uint32_t i = 0; i < report.roots.size(); ++i) {
    const std::string& name = report.roots[i].argument;
    const bool unread =
        std::any_of(report.problems.begin(), report.problems.end(),
                    [&](const Error& problem) { return StartsWith(problem.file, name); }) ||
        std::any_of(report.findings.begin(), report.findings.end(), [&](const Finding& finding) {
          return finding.id == "CP116" && finding.file == name;
        });
    if (!with_code.count(i) && !unread) names.push_back(name);
  }
  return names;
}

void AppendRootsWithoutCode(const Report& report, const Style& style, std::string& out) {
  constexpr size_t kShown = 8;
  const std::vector<std::string> names = RootsWithoutCode(report);
  const size_t shown = style.verbose || names.size() <= kShown + 1 ? names.size() : kShown;
  for (size_t i = 0; i < shown; ++i) {
    const Span label{EscapeTerminal(names[i]) + ": ", Tone::kBold};
    AppendParagraph(style, {0, 2, label, {{"no device code found in it"}}}, out);
  }
  if (shown < names.size()) {
    out += fmt::format("and {} more without device code\n", Thousands(names.size() - shown));
  }
  if (!names.empty()) out += '\n';
}

}  // namespace

void AppendTarget(const Report& report, const Style& style, std::string& out) {
  const std::string text = TargetGpus(report.target) + ", " + TargetDriver(report.target);
  AppendParagraph(style, {0, 2, {"target: ", Tone::kDim}, {{text, Tone::kDim}}}, out);
  for (const std::string& note : report.target.notes) {
    AppendParagraph(style, {2, 2, {}, {{EscapeTerminal(note), Tone::kDim}}}, out);
  }
  out += '\n';
}

std::string CheckText(const Report& report, const Style& style, const RunInfo& run) {
  std::string out;
  const auto groups = ByRoot(report);
  if (!groups.empty()) AppendTarget(report, style, out);
  for (const auto& [root, files] : groups) AppendGroup(report, files, style, out);
  AppendRootsWithoutCode(report, style, out);
  AppendFindings(report, style, out);
  AppendSummary(report, style, run, out);
  return out;
}

}  // namespace cuproof
