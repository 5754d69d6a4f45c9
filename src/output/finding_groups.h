#pragma once
#include <cstddef>
#include <vector>

#include "output/style.h"
#include "rule/report.h"

namespace cuproof {

/// Findings that say the same about several files.
struct FindingGroup {
  std::vector<const Finding*> findings;  // at least one, in the report's order
};

/// Groups by id, severity, message and fix, in the order of first appearance, errors first.
std::vector<FindingGroup> GroupFindings(const std::vector<Finding>& findings);

/// How the name of a severity looks; `note` is the caller's.
Tone SeverityTone(Severity severity, Tone note);

}  // namespace cuproof
