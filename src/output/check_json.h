#pragma once
#include <string>

#include "output/json.h"
#include "output/summary.h"
#include "rule/report.h"

namespace cuproof {

/// A report for programs, as docs/schema/check.schema.json describes it. Write it with DumpJson: a
/// path can hold bytes that are not UTF-8, on which the value's own dump() throws.
Json CheckJson(const Report& report, const RunInfo& run = {});

/// One finding, as in every report.
Json FindingJson(const Finding& finding);

/// The same as JSON lines: a line for the run, one for each file, finding and problem, and a
/// summary. Each has "type".
std::string CheckJsonLines(const Report& report, const RunInfo& run = {});

}  // namespace cuproof
