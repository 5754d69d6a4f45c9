#pragma once
#include <cstddef>

#include "bytes/view.h"
#include "trace/model.h"

namespace cuproof::trace {

// Bounds on what a hostile file may make us keep. The writer stops at 64 MB.
inline constexpr uint64_t kMaxEventBytes = uint64_t{256} << 20;
inline constexpr size_t kMaxLineBytes = 1 << 20;
inline constexpr size_t kMaxEvents = 2'000'000;

/// Reads PID.jsonl into `process`. A line that is no event is counted, not an error; the last one
/// may be cut off.
void ReadEvents(ByteView bytes, Process& process);

}  // namespace cuproof::trace
