#pragma once
#include "trace/model.h"

namespace cuproof::trace {

/// The program is a process of this machine: a process has its id, and started when the run did.
/// Ids come back, and a folder may have been copied here.
bool StillRuns(const Run& run);

}  // namespace cuproof::trace
