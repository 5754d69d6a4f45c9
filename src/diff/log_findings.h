#pragma once
#include <string>
#include <vector>

#include "diff/gate.h"
#include "resource/launch_log.h"
#include "resource/ptxas_log.h"
#include "rule/report.h"

namespace cuproof {

/// The kernels of a build's log, as those of a file are.
std::vector<MeasuredKernel> KernelsOf(const PtxasLog& log, const std::string& file);

/// What ptxas warned of or refused: CP407, each remark about one function once; and how many
/// kernels have no numbers.
std::vector<Finding> FindingsOfRemarks(const PtxasLog& log, const std::string& file);

/// Launches that failed for what a block takes: CP408, with the registers that launch at the block
/// size that the log tells or `options` ask for, on each architecture of `archs`.
std::vector<Finding> FindingsOfFailures(const std::vector<LaunchFailure>& failures,
                                        const std::string& file,
                                        const std::vector<MeasuredKernel>& kernels,
                                        const std::vector<std::string>& archs,
                                        const GateOptions& options);

}  // namespace cuproof
