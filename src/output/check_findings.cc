#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "output/check_parts.h"
#include "output/escape.h"
#include "output/finding_groups.h"
#include "output/layout.h"
#include "output/number.h"
#include "output/short_path.h"

namespace cuproof {
namespace {

constexpr size_t kPlacesShown = 5;
constexpr size_t kEvidenceShown = 5;
constexpr size_t kGroupsOfAnId = 12;  // of errors and warnings
constexpr size_t kNotesOfAnId = 3;

// Short names for the paths that findings give.
class Names {
 public:
  explicit Names(const Report& report) : report_(report) {
    for (const FileReport& file : report.files) files_.emplace(file.path, &file);
  }

  std::string Of(const Finding& finding) const {
    if (finding.file.empty()) return {};
    const auto known = files_.find(finding.file);
    if (known != files_.end()) return EscapeTerminal(ShortPath(report_, *known->second));
    for (const Root& root : report_.roots) {
      std::string name = ShortPath(root, finding.file);
      if (name != finding.file) return EscapeTerminal(name);
    }
    return EscapeTerminal(finding.file);
  }

 private:
  const Report& report_;
  std::map<std::string_view, const FileReport*> files_;
};

// The subject, where the message does not name it.
std::string SubjectOf(const Finding& finding) {
  if (finding.subject.empty() || finding.message.find(finding.subject) != std::string::npos)
    return {};
  return EscapeTerminal(finding.subject);
}

std::string NameAndSubject(const Finding& finding, const Names& names) {
  const std::string name = names.Of(finding);
  const std::string subject = SubjectOf(finding);
  if (name.empty() || subject.empty()) return name + subject;
  return fmt::format("{} ({})", name, subject);
}

// Different places of a group: files, or things in one file.
std::vector<const Finding*> PlacesOf(const FindingGroup& group) {
  std::vector<const Finding*> out;
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const Finding* finding : group.findings) {
    if (seen.emplace(finding->file, finding->subject).second) out.push_back(finding);
  }
  return out;
}

// "4 files", or "4 places" when some are in the same file.
std::string CountPlaces(const std::vector<const Finding*>& places) {
  std::set<std::string_view> files;
  for (const Finding* place : places) files.insert(place->file);
  return Count(places.size(), files.size() == places.size() ? "file" : "place");
}

void AppendFact(const Style& style, std::string_view text, Tone tone, std::string& out) {
  AppendParagraph(style, {4, 6, {}, {{EscapeTerminal(text), tone}}}, out);
}

void AppendMore(const Style& style, size_t hidden, std::string& out) {
  const std::string text = fmt::format("and {} more", Thousands(hidden));
  AppendParagraph(style, {4, 6, {}, {{text, Tone::kDim}}}, out);
}

void AppendEvidence(const std::vector<std::string>& evidence, Tone tone, const Style& style,
                    std::string& out) {
  const size_t all = evidence.size();
  const size_t shown = style.verbose || all <= kEvidenceShown + 1 ? all : kEvidenceShown;
  for (size_t i = 0; i < shown; ++i) AppendFact(style, evidence[i], tone, out);
  if (shown < all) AppendMore(style, all - shown, out);
}

// Facts that all findings of a group give.
std::vector<std::string> CommonEvidence(const std::vector<const Finding*>& findings) {
  std::vector<std::string> common;
  for (const std::string& fact : findings.front()->evidence) {
    const bool everywhere =
        std::all_of(findings.begin(), findings.end(), [&](const Finding* finding) {
          return std::find(finding->evidence.begin(), finding->evidence.end(), fact) !=
                 finding->evidence.end();
        });
    if (everywhere) common.push_back(fact);
  }
  return common;
}

std::vector<std::string> OwnEvidence(const Finding& finding,
                                     const std::vector<std::string>& common) {
  std::vector<std::string> own;
  for (const std::string& fact : finding.evidence) {
    if (std::find(common.begin(), common.end(), fact) == common.end()) own.push_back(fact);
  }
  return own;
}

void AppendPlace(const Finding& finding, const std::vector<std::string>& common, const Names& names,
                 const Style& style, std::string& out) {
  AppendParagraph(style, {4, 6, {}, {{NameAndSubject(finding, names)}}}, out);
  if (!style.verbose) return;
  for (const std::string& fact : OwnEvidence(finding, common)) {
    AppendParagraph(style, {6, 8, {}, {{EscapeTerminal(fact), Tone::kDim}}}, out);
  }
}

void AppendPlaces(const std::vector<const Finding*>& places, const Names& names, const Style& style,
                  std::string& out) {
  const std::vector<std::string> common = CommonEvidence(places);
  const bool all = style.verbose || places.size() <= kPlacesShown + 1;
  const size_t shown = all ? places.size() : kPlacesShown;
  for (size_t i = 0; i < shown; ++i) {
    AppendPlace(*places[i], common, names, style, out);
  }
  if (shown < places.size()) AppendMore(style, places.size() - shown, out);
  AppendEvidence(common, Tone::kDim, style, out);
}

void AppendLabelled(const Style& style, std::string_view name, std::string_view text, Tone tone,
                    std::string& out) {
  if (text.empty()) return;
  const Span label{fmt::format("{}: ", name), tone};
  AppendParagraph(style, {2, 4 + name.size(), label, {{EscapeTerminal(text)}}}, out);
}

void AppendTitle(const FindingGroup& group, const std::vector<const Finding*>& places,
                 const Names& names, const Style& style, std::string& out) {
  const Finding& finding = *group.findings.front();
  const Tone tone = SeverityTone(finding.severity, Tone::kBoldCyan);
  const Span label{
      fmt::format("{}[{}] ", SeverityName(finding.severity), EscapeTerminal(finding.id)), tone};
  const std::string name = places.size() > 1 ? CountPlaces(places) : NameAndSubject(finding, names);
  std::vector<Span> text;
  if (!name.empty()) text.push_back({name + ": ", Tone::kBold});
  text.push_back({EscapeTerminal(finding.message)});
  AppendParagraph(style, {0, 2, label, text}, out);
}

void AppendGroup(const FindingGroup& group, const Names& names, const Style& style, bool explain,
                 std::string& out) {
  const Finding& finding = *group.findings.front();
  const std::vector<const Finding*> places = PlacesOf(group);
  AppendTitle(group, places, names, style, out);
  if (finding.severity == Severity::kNote && !style.verbose) return;
  if (places.size() > 1) {
    AppendPlaces(places, names, style, out);
  } else {
    AppendEvidence(finding.evidence, Tone::kPlain, style, out);
  }
  AppendLabelled(style, "fix", finding.fix, Tone::kBoldGreen, out);
  if (style.verbose) {
    AppendLabelled(style, "source", finding.source, Tone::kDim, out);
    AppendLabelled(style, "verified on", finding.verified_on, Tone::kDim, out);
  }
  if (explain) AppendLabelled(style, "why", "cuproof explain " + finding.id, Tone::kDim, out);
}

size_t LimitOf(Severity severity, bool verbose) {
  if (verbose) return SIZE_MAX;
  return severity == Severity::kNote ? kNotesOfAnId : kGroupsOfAnId;
}

void AppendHidden(const std::map<std::string_view, size_t>& hidden, Severity severity,
                  const Style& style, std::string& out) {
  for (const auto& [id, count] : hidden) {
    const std::string text = fmt::format("and {} more: --verbose shows all", Thousands(count));
    const Span label{fmt::format("{}[{}] ", SeverityName(severity), EscapeTerminal(id)),
                     SeverityTone(severity, Tone::kBoldCyan)};
    AppendParagraph(style, {0, 2, label, {{text, Tone::kDim}}}, out);
  }
}

void AppendSeverity(const std::vector<FindingGroup>& groups, Severity severity, const Names& names,
                    const Style& style, std::string& out) {
  std::map<std::string_view, size_t> shown;
  std::map<std::string_view, size_t> hidden;
  const bool compact = severity == Severity::kNote && !style.verbose;
  bool any = false;
  for (const FindingGroup& group : groups) {
    const Finding& finding = *group.findings.front();
    if (finding.severity != severity) continue;
    const size_t before = shown[finding.id]++;
    if (before >= LimitOf(severity, style.verbose)) {
      hidden[finding.id] += group.findings.size();
      continue;
    }
    AppendGroup(group, names, style, before == 0, out);
    if (!compact) out += '\n';
    any = true;
  }
  AppendHidden(hidden, severity, style, out);
  if (any && (compact || !hidden.empty())) out += '\n';
}

}  // namespace

void AppendFindings(const Report& report, const Style& style, std::string& out) {
  const std::vector<FindingGroup> groups = GroupFindings(report.findings);
  const Names names(report);
  for (const Severity severity : {Severity::kError, Severity::kWarning, Severity::kNote}) {
    AppendSeverity(groups, severity, names, style, out);
  }
}

}  // namespace cuproof
