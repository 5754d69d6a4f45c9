#pragma once
#include <cstddef>
#include <vector>

#include "rule/report.h"

namespace cuproof {

/// Findings that say the same about several files.
struct FindingGroup {
  std::vector<const Finding*> findings;  // at least one, in the report's order
};

/// Groups by id, severity, message and fix, in the order of first appearance, errors first.
std::vector<FindingGroup> GroupFindings(const std::vector<Finding>& findings);

}  // namespace cuproof
