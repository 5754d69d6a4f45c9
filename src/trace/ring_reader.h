#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "bytes/result.h"
#include "bytes/view.h"
#include "trace/record.h"

namespace cuproof::trace {

/// A record, and where it stood.
struct Call {
  Record record;
  uint32_t ring = 0;
  uint32_t thread = 0;  // id of the thread; 0 in ring 0, which several threads share
  uint64_t number = 0;  // in its ring, from 0
};

/// The counters of one ring, and what its records came to.
struct RingState {
  uint32_t number = 0;
  uint32_t thread = 0;
  bool in_use = false;
  uint32_t owners = 0;
  uint64_t written = 0;  // records ever written
  uint64_t errors = 0;
  std::array<uint64_t, kOpCount> op_counts = {};
  uint64_t other_functions = 0;
  uint64_t overwritten = 0;  // records that later ones took the place of
  uint64_t torn = 0;         // were being written while we read, or are damaged
  bool damaged = false;      // the counters contradict one another
};

/// PID.ring, read. Counters are exact; calls are the last ones of each ring.
struct RingFile {
  uint32_t pid = 0;
  uint32_t parent_pid = 0;
  ClockKind clock_kind = ClockKind::kTsc;
  ClockPair start = {};
  ClockPair latest = {};
  uint32_t functions = 0;
  uint32_t ring_failures = 0;
  uint32_t lost_lines = 0;
  uint64_t event_bytes = 0;
  bool events_full = false;
  uint32_t first_errno = 0;
  std::vector<RingState> rings;
  std::vector<uint64_t> launches;  // by function id, over all rings
  std::vector<Call> calls;         // by ring, oldest first
  std::vector<Error> problems;     // rings that the file should have and has not
};

/// Reads what is there. The file may be written to meanwhile, or cut short at any byte; only a
/// header that cannot be one is an error.
Result<RingFile> ReadRingFile(ByteView bytes);

const char* OpName(Op op);

/// True for the ops that start a kernel, or several, in one call.
bool IsKernelLaunch(Op op);

}  // namespace cuproof::trace
