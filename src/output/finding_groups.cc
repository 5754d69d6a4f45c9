#include "output/finding_groups.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace cuproof {

std::vector<FindingGroup> GroupFindings(const std::vector<Finding>& findings) {
  using Key = std::tuple<Severity, std::string_view, std::string_view, std::string_view>;
  std::map<Key, size_t> index;
  std::vector<FindingGroup> groups;
  for (const Finding& finding : findings) {
    const Key key{finding.severity, finding.id, finding.message, finding.fix};
    const auto [at, added] = index.emplace(key, groups.size());
    if (added) groups.emplace_back();
    groups[at->second].findings.push_back(&finding);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const FindingGroup& a, const FindingGroup& b) {
    return a.findings.front()->severity > b.findings.front()->severity;
  });
  return groups;
}

Tone SeverityTone(Severity severity, Tone note) {
  switch (severity) {
    case Severity::kError:
      return Tone::kBoldRed;
    case Severity::kWarning:
      return Tone::kBoldYellow;
    case Severity::kNote:
      break;
  }
  return note;
}

}  // namespace cuproof
