#pragma once
#include <string>
#include <vector>

#include "bytes/result.h"
#include "rule/report.h"

namespace cuproof {

/// "sarif" and "markdown", the formats that hold findings alone; empty for any other. `command` is
/// "check" or "resources".
std::string FindingsOutput(const std::string& format, const std::string& command,
                           const std::vector<Finding>& findings,
                           const std::vector<Error>& problems);

}  // namespace cuproof
