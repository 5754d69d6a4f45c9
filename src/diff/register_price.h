#pragma once
#include <string>
#include <vector>

#include "bytes/result.h"
#include "bytes/view.h"
#include "rule/report.h"

namespace cuproof {

/// What it costs in spills to compile the PTX of a file within so many registers, kernel by kernel:
/// lines of evidence. `ptxas` is run for each PTX of the file; those for later architectures than
/// `arch` are left out.
Result<std::vector<std::string>> RegisterPrice(ByteView file, const std::string& ptxas,
                                               const std::string& arch, uint32_t registers);

}  // namespace cuproof
