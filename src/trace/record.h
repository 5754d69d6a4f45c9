#pragma once
// The files that a recorded process leaves behind. The preloaded library (inject/) writes them and
// includes nothing else of ours; the reader is trace/reader.h. Everything here is plain data,
// little endian, the same for every build of both sides: docs/trace.md describes it for other
// readers.
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cuproof::trace {

inline constexpr uint64_t kRingMagic = 0x31474e4952505543;  // "CUPRING1"
inline constexpr uint32_t kRingVersion = 1;
inline constexpr uint32_t kOpCount = 64;           // room for ops
inline constexpr uint32_t kFunctionCounts = 8192;  // functions that are counted one by one
inline constexpr uint32_t kRecordsDefault = 16384;
inline constexpr uint32_t kRingsDefault = 128;

/// What was called. Numbers are part of the format: never reused.
enum class Op : uint16_t {
  kNone = 0,
  kLaunchKernel = 1,            // cuLaunchKernel, _ptsz
  kLaunchKernelEx = 2,          // cuLaunchKernelEx, _ptsz
  kLaunchCooperative = 3,       // cuLaunchCooperativeKernel, _ptsz
  kLaunchCooperativeMulti = 4,  // cuLaunchCooperativeKernelMultiDevice: one record for each device
  kLaunchLegacy = 5,            // cuLaunch, cuLaunchGrid, cuLaunchGridAsync
  kLaunchHostFunc = 6,          // cuLaunchHostFunc, _v2, _ptsz
  kGraphLaunch = 7,             // cuGraphLaunch, _ptsz
  kGraphInstantiate = 8,
  kGraphExecUpdate = 9,
  kModuleLoad = 10,
  kLibraryLoad = 11,
  kModuleUnload = 12,
  kLibraryUnload = 13,
  kLink = 14,         // cuLinkComplete
  kGetFunction = 15,  // cuModuleGetFunction, cuLibraryGetKernel, cuKernelGetFunction
  kMemAlloc = 16,     // bytes in aux
  kMemFree = 17,
  kMemAllocAsync = 18,  // bytes in aux
  kMemFreeAsync = 19,
  kMemcpy = 20,         // bytes in aux
  kMemset = 21,         // bytes in aux
  kContextCreate = 22,  // primary contexts included
  kContextDestroy = 23,
  kStreamCreate = 24,
  kStreamDestroy = 25,
  kStreamSynchronize = 26,
  kEventSynchronize = 27,
  kContextSynchronize = 28,
  kCaptureBegin = 29,
  kCaptureEnd = 30,
  kFunctionSetAttribute = 31,
};

enum RecordFlag : uint16_t {
  kCaptured = 1,         // the stream was being captured: the work went into a graph
  kLegacyStream = 2,     // the legacy default stream
  kPerThreadStream = 4,  // the per-thread default stream
  kCluster = 8,          // a cluster dimension was given
  kCooperative = 16,
  kProgrammatic = 32,  // programmatic stream serialisation or event
  kSaturated = 64,     // a block or grid dimension was larger than the record can hold
  kFirstLaunch = 128,  // of this function in this process
  kTimed = 256,        // `duration` was taken
};

/// No result yet: the call has not returned. A process that died in a call leaves it.
inline constexpr int32_t kPending = INT32_MIN;

/// One call. 64 bytes, one cache line.
struct alignas(64) Record {
  uint32_t sequence;  // low 32 bits of (its number in the ring + 1), stored last; 0: never written
  uint16_t op;
  uint16_t flags;
  uint64_t clock;       // on entry: time stamp counter, or nanoseconds (FileHeader::clock_kind)
  int32_t result;       // CUresult, or kPending
  uint32_t duration;    // of the call, in clock ticks, saturated; 0 unless kTimed
  uint32_t function;    // id of the function event; 0: none, or not known
  uint32_t stream;      // id of the stream event; 0: the default stream of the call
  uint32_t grid_x;      // blocks
  uint16_t grid_yz[2];  // blocks, saturated: no GPU takes more than 65535
  uint16_t block[3];    // threads, saturated at 65535
  uint16_t context;     // id of the context event; 0: not known
  uint32_t shared;      // dynamic shared memory, bytes
  uint32_t capture;     // id of the capture that took the call; 0: none
  uint64_t aux;         // bytes, or the id of a graph exec, or of an image: by op
};
static_assert(sizeof(Record) == 64);

/// A pair of readings that ties the clock of the records to CLOCK_MONOTONIC and CLOCK_REALTIME.
struct ClockPair {
  uint64_t clock;
  uint64_t monotonic_ns;
  uint64_t realtime_ns;
};

enum class ClockKind : uint32_t { kTsc = 1, kMonotonic = 2 };

inline constexpr uint64_t kHeaderBytes = 4096;

/// The first page of PID.ring.
struct FileHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t pid;
  uint32_t parent_pid;
  ClockKind clock_kind;
  uint32_t records;  // in each ring, a power of two
  uint32_t max_rings;
  uint64_t ring_bytes;  // from one ring to the next
  ClockPair start;
  ClockPair latest;             // renewed now and then, at least once a second while calls are made
  std::atomic<uint32_t> rings;  // that exist in the file; ring 0 is the shared one
  std::atomic<uint32_t> functions;      // ids given
  std::atomic<uint32_t> ring_failures;  // threads that got no ring of their own: they share ring 0
  std::atomic<uint32_t> lost_lines;     // event lines that could not be written
  std::atomic<uint64_t> event_bytes;    // of PID.jsonl
  std::atomic<uint32_t> events_full;    // 1: the bound on PID.jsonl was reached
  uint32_t first_errno;                 // of the first failure to write
};
static_assert(sizeof(FileHeader) <= kHeaderBytes);

/// The head of a ring: counts that stay exact after the records have wrapped.
struct RingHeader {
  std::atomic<uint32_t> thread;  // thread id of the owner; of the last one when it is free
  std::atomic<uint32_t> in_use;
  std::atomic<uint32_t> owners;  // threads that have had it, one after the other
  uint32_t number;
  std::atomic<uint64_t> head;    // records ever written
  std::atomic<uint64_t> errors;  // calls that returned an error
  std::atomic<uint64_t> op_counts[kOpCount];
  std::atomic<uint64_t> other_functions;  // launches of functions past kFunctionCounts, or unknown
  uint32_t wide[6];  // grid and block of the latest launch whose numbers a record cannot hold
  uint8_t reserved[kHeaderBytes - 16 - 16 - 8 * kOpCount - 8 - 24];
  std::atomic<uint64_t> launches[kFunctionCounts];  // by function id
};
static_assert(sizeof(RingHeader) == kHeaderBytes + 8 * kFunctionCounts);

/// Bytes of a ring with its records.
constexpr uint64_t RingBytes(uint32_t records) {
  return sizeof(RingHeader) + uint64_t{records} * sizeof(Record);
}

// ---- The table that the launcher writes into the shim, and the entry of the preloaded library.

inline constexpr uint64_t kShimMagic = 0x314d494853505543;  // "CUPSHIM1"

enum ShimOption : uint64_t {
  kOptionIdle = 1,        // every name leads to the driver, nothing is recorded
  kOptionTimed = 2,       // the clock is read on return, too
  kOptionDumpImages = 4,  // images are copied
};

/// In the shim's data, filled by the loader (relative relocations) and by the preloaded library.
struct ShimTable {
  uint64_t magic;
  uint32_t count;  // of names and slots
  uint32_t reserved;
  const char* const* names;  // as the driver exports them, sorted by byte
  void** slots;              // what each trampoline jumps to
  const char* driver;        // absolute path of the real driver
  const char* folder;        // absolute path of the run folder
  uint64_t options;          // ShimOption
  uint32_t records;          // of a ring, a power of two
  uint32_t max_rings;        // of a process
  uint64_t event_bytes;      // bound on PID.jsonl
  uint64_t image_bytes;      // bound on what one process copies
};

}  // namespace cuproof::trace

/// Called by the shim at the first call of any of its symbols: opens the real driver, fills every
/// slot, and returns the target for slot `index`. Safe from several threads at once.
extern "C" void* cuproof_resolve(const cuproof::trace::ShimTable* table, uint32_t index);
