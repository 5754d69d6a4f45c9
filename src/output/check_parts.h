#pragma once
#include <string>
#include <vector>

#include "output/style.h"
#include "output/summary.h"
#include "rule/report.h"

// The parts of CheckText, one a file, in the order that they come in.
namespace cuproof {

/// What was judged against, and what was found out about this machine.
void AppendTarget(const Report& report, const Style& style, std::string& out);

/// One file: what it holds, and a table of GPUs.
void AppendFile(const Report& report, const FileReport& file, const Style& style, std::string& out);

/// Several files of one root: a matrix of files and GPUs.
void AppendMatrix(const Report& report, const std::vector<const FileReport*>& files,
                  const Style& style, std::string& out);

/// Findings, alike ones as one.
void AppendFindings(const Report& report, const Style& style, std::string& out);

/// What was looked at, what was found, and what the exit code says.
void AppendSummary(const Report& report, const Style& style, const RunInfo& run, std::string& out);

}  // namespace cuproof
