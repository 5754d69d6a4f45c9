#pragma once
#include <string>

#include "trace/model.h"

namespace cuproof {

/// Trace-event JSON, as ui.perfetto.dev and chrome://tracing read it: of each process one track for
/// every thread and one for every stream, in the order of the calls; captures and errors as instant
/// events; bytes of asynchronous allocations as a counter. Only calls that are still in the rings.
std::string ReportPerfetto(const trace::Run& run);

}  // namespace cuproof
