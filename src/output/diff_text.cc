#include "output/diff_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "output/escape.h"
#include "output/finding_groups.h"
#include "output/kernel_name.h"
#include "output/layout.h"
#include "output/number.h"

namespace cuproof {
namespace {

constexpr size_t kChangesShown = 10;  // of a kind
constexpr size_t kFilesShown = 3;
constexpr size_t kNameWidth = 100;
constexpr size_t kKernelWidth = 44;

std::string Arrow(const Change& change) {
  if (change.was.empty()) return change.is;
  if (change.is.empty()) return change.was;
  return fmt::format("{} -> {}", change.was, change.is);
}

std::string FilesOf(const Change& change, uint64_t files, bool verbose) {
  if (change.files.size() == files && files > 1)
    return fmt::format("in all {} files", Thousands(files));
  if (change.files.size() > kFilesShown && !verbose)
    return fmt::format("in {}", Count(change.files.size(), "file"));
  std::string text;
  for (const std::string& file : change.files) text += (text.empty() ? "in " : ", ") + file;
  return text;
}

std::string Shortened(const std::string& name, bool verbose) {
  if (verbose || name.size() <= kNameWidth) return name;
  return name.substr(0, kNameWidth / 2) + "..." + name.substr(name.size() - kNameWidth / 2);
}

// "sm_70, sm_72" for GPUs to which the same happened.
bool SameButSubject(const Change& a, const Change& b) {
  return a.kind == b.kind && a.was == b.was && a.is == b.is && a.files == b.files &&
         a.evidence.empty() && b.evidence.empty() && a.kind <= ChangeKind::kDriverFloor;
}

void AppendChange(const Change& change, const std::string& subject, const Comparison& comparison,
                  const Style& style, std::string& out) {
  const bool file =
      change.kind == ChangeKind::kFileAdded || change.kind == ChangeKind::kFileRemoved;
  std::string text = EscapeTerminal(Arrow(change));
  if (!file) text += "  " + EscapeTerminal(FilesOf(change, comparison.files, style.verbose));
  const std::string shown = file ? change.files.front() : Shortened(subject, style.verbose);
  AppendParagraph(style, {2, 6, {EscapeTerminal(shown) + ": ", Tone::kPlain}, {{text}}}, out);
  for (const std::string& fact : change.evidence) {
    AppendParagraph(
        style, {6, 8, {}, {{EscapeTerminal(Shortened(fact, style.verbose)), Tone::kDim}}}, out);
  }
}

// For a column: of one file the last part of its path.
std::string PlacesOf(const Change& change, uint64_t files, bool verbose) {
  if (change.files.size() != 1 || verbose) return FilesOf(change, files, verbose);
  const std::string& file = change.files.front();
  return "in " + file.substr(file.find_last_of("/!") + 1);
}

bool IsNumberOfKernel(const Change& change) {
  return change.kind == ChangeKind::kRegisters || change.kind == ChangeKind::kSpills;
}

std::string MoreAndFewer(const std::vector<Change>& changes, size_t first, size_t end) {
  size_t more = 0;
  for (size_t i = first; i < end; ++i) more += changes[i].weight > 0;
  return fmt::format(": {} with more, {} with fewer", Thousands(more),
                     Thousands(end - first - more));
}

// One line a kernel: those that grew most come first.
void AppendNumbers(const std::vector<Change>& changes, size_t first, size_t end,
                   const Comparison& comparison, const Style& style, std::string& out) {
  const size_t shown = style.verbose ? end : std::min(end, first + kChangesShown);
  TextTable table({Align::kLeft, Align::kLeft, Align::kRight, Align::kLeft, Align::kBroken});
  for (size_t i = first; i < shown; ++i) {
    const Change& change = changes[i];
    const std::string name = style.verbose ? EscapeTerminal(change.subject)
                                           : ShortKernelName(change.kernel, kKernelWidth);
    table.Row({{name},
               {change.arch},
               {change.was},
               {"-> " + change.is},
               {EscapeTerminal(PlacesOf(change, comparison.files, style.verbose)), Tone::kDim}});
  }
  table.Append(style, 2, out);
  if (shown < end)
    out += fmt::format("  and {} more: --verbose shows all\n", Thousands(end - shown));
}

void AppendKind(const std::vector<Change>& changes, size_t first, size_t end,
                const Comparison& comparison, const Style& style, std::string& out) {
  const Change& head = changes[first];
  std::string title = ChangeKindTitle(head.kind);
  if (IsNumberOfKernel(head)) title += MoreAndFewer(changes, first, end);
  AppendParagraph(style, {0, 2, {}, {{title, SeverityTone(head.severity, Tone::kBold)}}}, out);
  if (IsNumberOfKernel(head)) {
    AppendNumbers(changes, first, end, comparison, style, out);
    out += '\n';
    return;
  }
  size_t shown = 0;
  for (size_t i = first; i < end;) {
    if (shown++ == kChangesShown && !style.verbose) {
      out += fmt::format("  and {} more: --verbose shows all\n", Thousands(end - i));
      break;
    }
    std::string subject = changes[i].subject;
    size_t next = i + 1;
    for (; next < end && SameButSubject(changes[i], changes[next]); ++next)
      subject += ", " + changes[next].subject;
    AppendChange(changes[i], subject, comparison, style, out);
    i = next;
  }
  out += '\n';
}

void AppendBytes(const Comparison& comparison, const Style& style, std::string& out) {
  if (comparison.bytes.empty()) return;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.Row({{"bytes of device code", Tone::kBold}, {"old"}, {"new"}, {""}});
  uint64_t was = 0;
  uint64_t is = 0;
  const auto row = [&](const std::string& name, uint64_t before, uint64_t after) {
    std::string share;
    if (before > 0 && after > 0) {
      share = fmt::format("{:+.1f} %",
                          100.0 * (static_cast<double>(after) - static_cast<double>(before)) /
                              static_cast<double>(before));
    }
    table.Row({{name},
               {before ? HumanBytes(before) : "-"},
               {after ? HumanBytes(after) : "-"},
               {before == after ? "" : share}});
  };
  for (const TargetBytes& bytes : comparison.bytes) {
    row(EscapeTerminal(bytes.target), bytes.was, bytes.is);
    was = SaturatingAdd(was, bytes.was);
    is = SaturatingAdd(is, bytes.is);
  }
  if (comparison.bytes.size() > 1) row("all", was, is);
  table.Append(style, 0, out);
  out += '\n';
}

}  // namespace

std::string DiffText(const Comparison& comparison, const Style& style) {
  std::string out;
  AppendParagraph(
      style, {0, 2, {"old: ", Tone::kDim}, {{EscapeTerminal(comparison.old_name), Tone::kDim}}},
      out);
  AppendParagraph(
      style, {0, 2, {"new: ", Tone::kDim}, {{EscapeTerminal(comparison.new_name), Tone::kDim}}},
      out);
  out += '\n';
  const std::vector<Change>& changes = comparison.changes;
  for (size_t first = 0; first < changes.size();) {
    size_t end = first;
    while (end < changes.size() && changes[end].kind == changes[first].kind) ++end;
    AppendKind(changes, first, end, comparison, style, out);
    first = end;
  }
  AppendBytes(comparison, style, out);
  if (changes.empty()) {
    out += comparison.problems.empty() ? "nothing that a user would see has changed\n"
                                       : "no change in what could be read\n";
  }
  out += fmt::format("{} compared", Count(comparison.files, "file"));
  if (comparison.kernels > 0) {
    out += fmt::format(", {} ({} changed in registers or spills)",
                       Count(comparison.kernels, "kernel image"),
                       Thousands(comparison.kernels_changed));
  }
  return out + '\n';
}

}  // namespace cuproof
