#pragma once
#include <string>

#include "output/style.h"
#include "output/summary.h"
#include "rule/report.h"

namespace cuproof {

/// A report for people: what each file runs on, the findings, a summary. Inputs that could not be
/// read are counted here and belong on standard error (ErrorLine).
std::string CheckText(const Report& report, const Style& style, const RunInfo& run = {});

}  // namespace cuproof
