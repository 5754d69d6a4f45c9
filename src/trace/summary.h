#pragma once
#include <string>

#include "bytes/result.h"

namespace cuproof {

struct Style;

namespace trace {

/// What the launcher says when the program has ended: at most 15 lines when nothing is wrong. Made
/// in output/report_summary.cc.
Result<std::string> SummariseRun(const std::string& folder, const Style& style);

}  // namespace trace
}  // namespace cuproof
