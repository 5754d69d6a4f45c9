#pragma once
#include <string>

#include "output/report_facts.h"

namespace cuproof {

/// docs/schema/report.schema.json describes it.
std::string ReportJson(const RunReport& report, const std::string& version);

}  // namespace cuproof
