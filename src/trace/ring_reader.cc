#include "trace/ring_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace cuproof::trace {
namespace {

// What a writer of ours never exceeds: a header that says more is damaged.
constexpr uint32_t kMaxRecords = 1u << 24;
constexpr uint32_t kMaxRings = 1u << 16;

// The fields that another process may be writing are read one by one: a copy of the whole header
// would be no more of one moment, and atomics cannot be copied.
template <typename T>
T Field(ByteView bytes, uint64_t offset) {
  return bytes.Load<T>(offset).value_or(T{});
}

#define HEADER(type, field) Field<type>(bytes, offsetof(FileHeader, field))
#define RING(type, field) Field<type>(bytes, at + offsetof(RingHeader, field))

Error Damaged(ErrorCode code, uint64_t offset, std::string phrase) {
  return {code, std::move(phrase), "", offset};
}

// A record counts when its number is the expected one before and after the copy: a writer that
// comes around meanwhile changes it.
bool CopyRecord(ByteView bytes, uint64_t offset, uint64_t number, Record& record) {
  const auto expected = static_cast<uint32_t>(number + 1);
  if (bytes.Load<uint32_t>(offset) != expected) return false;
  std::atomic_thread_fence(std::memory_order_acquire);
  const auto copy = bytes.Load<Record>(offset);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (!copy || copy->sequence != expected || bytes.Load<uint32_t>(offset) != expected) return false;
  record = *copy;
  return true;
}

void ReadCalls(ByteView bytes, uint64_t at, uint32_t records, RingState& state, RingFile& file) {
  const uint64_t begin = at + sizeof(RingHeader);
  const uint64_t first = state.written > records ? state.written - records : 0;
  state.overwritten = first;
  for (uint64_t number = first; number < state.written; ++number) {
    Call call;
    const uint64_t offset = begin + (number % records) * sizeof(Record);
    if (!bytes.Holds(offset, sizeof(Record))) {
      file.problems.push_back(Damaged(ErrorCode::kTruncated, offset,
                                      fmt::format("ring {} should have {} more records here",
                                                  state.number, state.written - number)));
      return;
    }
    if (!CopyRecord(bytes, offset, number, call.record)) {
      ++state.torn;
      continue;
    }
    call.ring = state.number;
    call.thread = state.number == 0 ? 0 : state.thread;
    call.number = number;
    file.calls.push_back(call);
  }
}

uint64_t Sum(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

// Every record is counted by its op, and every launch by its function. A thread that is at it, or
// was killed at it, has counted one and not the other; the shared ring has several threads.
bool Contradictory(const RingState& state, uint64_t by_function, uint64_t written_after,
                   uint32_t shared_by) {
  const uint64_t slack = state.number == 0 ? uint64_t{shared_by} + 2 : 2;
  uint64_t by_op = 0;
  uint64_t launches = 0;
  for (uint16_t op = 0; op < kOpCount; ++op) {
    by_op = Sum(by_op, state.op_counts[op]);
    if (IsKernelLaunch(static_cast<Op>(op))) launches = Sum(launches, state.op_counts[op]);
  }
  const uint64_t since = written_after > state.written ? written_after - state.written : 0;
  const auto near = [&](uint64_t a, uint64_t b) {
    return (a > b ? a - b : b - a) <= Sum(slack, since);
  };
  return written_after < state.written || !near(by_op, state.written) ||
         !near(by_function, launches);
}

void ReadRing(ByteView bytes, uint64_t at, uint32_t index, uint32_t records, RingFile& file) {
  RingState state;
  state.number = index;
  state.thread = RING(uint32_t, thread);
  state.in_use = RING(uint32_t, in_use) != 0;
  state.owners = RING(uint32_t, owners);
  state.written = RING(uint64_t, head);
  state.errors = RING(uint64_t, errors);
  state.other_functions = RING(uint64_t, other_functions);
  for (uint32_t op = 0; op < kOpCount; ++op) {
    state.op_counts[op] = Field<uint64_t>(bytes, at + offsetof(RingHeader, op_counts) + 8 * op);
  }
  uint64_t by_function = state.other_functions;
  for (uint32_t function = 0; function < kFunctionCounts; ++function) {
    const auto count = Field<uint64_t>(bytes, at + offsetof(RingHeader, launches) + 8 * function);
    file.launches[function] = Sum(file.launches[function], count);
    by_function = Sum(by_function, count);
  }
  state.damaged = Contradictory(state, by_function, RING(uint64_t, head), file.ring_failures);
  ReadCalls(bytes, at, records, state, file);
  file.rings.push_back(state);
}

}  // namespace

Result<RingFile> ReadRingFile(ByteView bytes) {
  if (bytes.size() < kHeaderBytes) {
    return Damaged(
        ErrorCode::kTruncated, bytes.size(),
        fmt::format("expected a header of {} bytes, the file ends before", kHeaderBytes));
  }
  if (HEADER(uint64_t, magic) != kRingMagic) {
    return Damaged(ErrorCode::kBadMagic, 0, "expected a ring file (CUPRING1)");
  }
  if (const auto version = HEADER(uint32_t, version); version != kRingVersion) {
    return Damaged(ErrorCode::kUnsupported, offsetof(FileHeader, version),
                   fmt::format("ring format {}, this version reads {}", version, kRingVersion));
  }
  const auto records = HEADER(uint32_t, records);
  const auto ring_bytes = HEADER(uint64_t, ring_bytes);
  if (records == 0 || records > kMaxRecords || (records & (records - 1)) != 0) {
    return Damaged(ErrorCode::kBadSize, offsetof(FileHeader, records),
                   fmt::format("a ring of {} records, expected a power of two up to {}", records,
                               kMaxRecords));
  }
  if (ring_bytes < RingBytes(records) || ring_bytes > 2 * RingBytes(kMaxRecords)) {
    return Damaged(
        ErrorCode::kBadSize, offsetof(FileHeader, ring_bytes),
        fmt::format("rings {} bytes apart, expected at least {}", ring_bytes, RingBytes(records)));
  }
  RingFile file;
  file.pid = HEADER(uint32_t, pid);
  file.parent_pid = HEADER(uint32_t, parent_pid);
  file.clock_kind = HEADER(uint32_t, clock_kind) == static_cast<uint32_t>(ClockKind::kMonotonic)
                        ? ClockKind::kMonotonic
                        : ClockKind::kTsc;
  file.start = HEADER(ClockPair, start);
  file.latest = HEADER(ClockPair, latest);
  file.functions = HEADER(uint32_t, functions);
  file.ring_failures = HEADER(uint32_t, ring_failures);
  file.lost_lines = HEADER(uint32_t, lost_lines);
  file.event_bytes = HEADER(uint64_t, event_bytes);
  file.events_full = HEADER(uint32_t, events_full) != 0;
  file.first_errno = HEADER(uint32_t, first_errno);
  file.launches.assign(kFunctionCounts, 0);
  const uint32_t rings = std::min(HEADER(uint32_t, rings), kMaxRings);
  for (uint32_t index = 0; index < rings; ++index) {
    const uint64_t at = kHeaderBytes + index * ring_bytes;
    if (!bytes.Holds(at, sizeof(RingHeader))) {
      file.problems.push_back(
          Damaged(ErrorCode::kTruncated, at,
                  fmt::format("{} rings should be here, the file has {}", rings, index)));
      break;
    }
    ReadRing(bytes, at, index, records, file);
  }
  return file;
}

bool IsKernelLaunch(Op op) { return op >= Op::kLaunchKernel && op <= Op::kLaunchLegacy; }

const char* OpName(Op op) {
  switch (op) {
    case Op::kNone:
      break;
    case Op::kLaunchKernel:
      return "cuLaunchKernel";
    case Op::kLaunchKernelEx:
      return "cuLaunchKernelEx";
    case Op::kLaunchCooperative:
      return "cuLaunchCooperativeKernel";
    case Op::kLaunchCooperativeMulti:
      return "cuLaunchCooperativeKernelMultiDevice";
    case Op::kLaunchLegacy:
      return "cuLaunch";
    case Op::kLaunchHostFunc:
      return "cuLaunchHostFunc";
    case Op::kGraphLaunch:
      return "cuGraphLaunch";
    case Op::kGraphInstantiate:
      return "cuGraphInstantiate";
    case Op::kGraphExecUpdate:
      return "cuGraphExecUpdate";
    case Op::kModuleLoad:
      return "cuModuleLoad";
    case Op::kLibraryLoad:
      return "cuLibraryLoad";
    case Op::kModuleUnload:
      return "cuModuleUnload";
    case Op::kLibraryUnload:
      return "cuLibraryUnload";
    case Op::kLink:
      return "cuLinkComplete";
    case Op::kGetFunction:
      return "cuModuleGetFunction";
    case Op::kMemAlloc:
      return "cuMemAlloc";
    case Op::kMemFree:
      return "cuMemFree";
    case Op::kMemAllocAsync:
      return "cuMemAllocAsync";
    case Op::kMemFreeAsync:
      return "cuMemFreeAsync";
    case Op::kMemcpy:
      return "cuMemcpy";
    case Op::kMemset:
      return "cuMemset";
    case Op::kContextCreate:
      return "cuCtxCreate";
    case Op::kContextDestroy:
      return "cuCtxDestroy";
    case Op::kStreamCreate:
      return "cuStreamCreate";
    case Op::kStreamDestroy:
      return "cuStreamDestroy";
    case Op::kStreamSynchronize:
      return "cuStreamSynchronize";
    case Op::kEventSynchronize:
      return "cuEventSynchronize";
    case Op::kContextSynchronize:
      return "cuCtxSynchronize";
    case Op::kCaptureBegin:
      return "cuStreamBeginCapture";
    case Op::kCaptureEnd:
      return "cuStreamEndCapture";
    case Op::kFunctionSetAttribute:
      return "cuFuncSetAttribute";
  }
  return "an unknown call";
}

}  // namespace cuproof::trace
