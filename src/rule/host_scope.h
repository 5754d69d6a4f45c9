#pragma once
#include "link/resolve.h"
#include "rule/host_load.h"

namespace cuproof {

/// What the objects of one load do to each other, beyond what is missing: fills `stubs`,
/// `entry_points`, `claims`, `driver_stub` and `not_there` of `load`, whose facts are read.
void TellScope(const Process& process, FileCache& files, const LoadReport& report, HostLoad& load);

}  // namespace cuproof
