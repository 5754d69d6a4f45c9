#include "output/check_text.h"

#include <fmt/format.h>

#include <map>

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
  return (present ? "this machine, " : "") + Count(count, "GPU");
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
  AppendFindings(report, style, out);
  AppendSummary(report, style, run, out);
  return out;
}

}  // namespace cuproof
