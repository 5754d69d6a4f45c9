#pragma once
#include <string>

#include "output/report_facts.h"
#include "output/style.h"

namespace cuproof {

/// A recorded run for people.
std::string ReportText(const RunReport& report, const Style& style);

/// One explained error, with what to do and the driver's own words.
void AppendExplanation(const RunReport& report, const Explanation& explanation, const Style& style,
                       std::string& out);

}  // namespace cuproof
