#pragma once
#include <cstdint>
#include <string>

#include "resource/measured_kernel.h"
#include "rule/report.h"

namespace cuproof {

/// 90 of "sm_90a"; 0: no number.
uint32_t SmOf(const std::string& arch);

/// The name that people read.
const std::string& ShownName(const MeasuredKernel& kernel);

/// "name for sm_90": what a finding about the kernel is about.
std::string SubjectOf(const MeasuredKernel& kernel);

/// About one kernel: its file, "name for sm_90" and, where the compiler left it, its source line.
Finding KernelFinding(const MeasuredKernel& kernel, const char* id, Severity severity);

/// Source and verified_on of the gate's findings.
void SetSource(Finding& finding);

}  // namespace cuproof
