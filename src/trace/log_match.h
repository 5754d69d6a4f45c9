#pragma once
#include "trace/model.h"

namespace cuproof::trace {

/// Gives the driver's log lines to the errors that they are about. The driver calls back on the
/// thread that made the call, before the call returns, and ends with the number and the name of the
/// call: an error gets the last lines before it, behind the record of its call, if they end with
/// its own number and call. Calls that are not recorded say words too: these fit no error and stay.
void MatchLog(Process& process);

}  // namespace cuproof::trace
