#pragma once
#include "trace/model.h"

namespace cuproof::trace {

/// Moves the driver's log lines to the errors that they are about. The driver calls back on the
/// thread that made the call, before the call returns: a line belongs to the first error of its
/// thread at or after it; where an equal error was only counted, to the nearest one before. Lines
/// that fit no error stay.
void MatchLog(Process& process);

}  // namespace cuproof::trace
