#pragma once
// What the preloaded library knows about its process. One mapping that the kernel empties in a
// forked child (MADV_WIPEONFORK), so a child starts afresh and no lock can be inherited taken.
#include <errno.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "trace/record.h"

namespace cuproof::inject {

inline bool Unlikely(bool condition) { return __builtin_expect(condition, 0) != 0; }

enum class Kind : uint64_t {
  kFunction = 1,      // -> function id
  kStream = 2,        // -> stream id
  kContext = 3,       // -> context id
  kModule = 4,        // CUmodule and CUlibrary -> image id
  kGraph = 5,         // -> GraphShadow*
  kExec = 6,          // -> GraphShadow*
  kCapture = 7,       // stream being captured -> capture id
  kEventCapture = 8,  // event recorded in a capture -> capture id
  kExecId = 9,        // CUgraphExec -> its id
};

/// From handles to ids: open addressing, read without a lock, written under State::lock. An entry
/// is never removed, only set to 0: addresses of dead handles come back.
class HandleMap {
 public:
  static constexpr uint32_t kSlots = 1U << 17;

  uint64_t Find(Kind kind, const void* handle) const {
    const uint64_t key = Key(kind, handle);
    const Entry& first = entries_[Start(key)];
    if (!Unlikely(first.key.load(std::memory_order_acquire) != key)) {
      return first.value.load(std::memory_order_acquire);
    }
    return FindFurther(key);
  }

  /// With State::lock held. False when the map is full.
  bool Set(Kind kind, const void* handle, uint64_t value) {
    const uint64_t key = Key(kind, handle);
    for (uint32_t slot = Start(key), tried = 0; tried < kSlots;
         ++tried, slot = (slot + 1) % kSlots) {
      const uint64_t found = entries_[slot].key.load(std::memory_order_relaxed);
      if (found == 0 && (value == 0 || used_ > kSlots / 4 * 3)) return value == 0;
      if (found != 0 && found != key) continue;
      entries_[slot].value.store(value, std::memory_order_release);
      if (found == 0) {
        ++used_;
        entries_[slot].key.store(key, std::memory_order_release);
      }
      return true;
    }
    return false;
  }

 private:
  struct Entry {
    std::atomic<uint64_t> key;
    std::atomic<uint64_t> value;
  };
  __attribute__((noinline)) uint64_t FindFurther(uint64_t key) const {
    for (uint32_t slot = Start(key), tried = 0; tried < kSlots;
         ++tried, slot = (slot + 1) % kSlots) {
      const uint64_t found = entries_[slot].key.load(std::memory_order_acquire);
      if (found == key) return entries_[slot].value.load(std::memory_order_acquire);
      if (found == 0) return 0;
    }
    return 0;
  }
  // Addresses of user space have 47 bits (56 with five-level tables, which the driver does not
  // use).
  static uint64_t Key(Kind kind, const void* handle) {
    return reinterpret_cast<uint64_t>(handle) ^ static_cast<uint64_t>(kind) << 56;
  }
  static uint32_t Start(uint64_t key) {
    return static_cast<uint32_t>((key * 0x9e3779b97f4a7c15) >> 47);
  }
  Entry entries_[kSlots];
  uint32_t used_;
};
static_assert(HandleMap::kSlots == 1U << (64 - 47));

struct ImageShadow {
  const void* bytes;
  uint64_t size;
  uint64_t hash[2];
  uint8_t kind;
  bool in_file;
  bool dumped;
};

struct FunctionShadow {
  std::atomic<uint32_t> image;
  std::atomic<uint32_t> asked;  // bits of CUfunction_attribute whose value was written down
  std::atomic<int32_t> dynamic_shared;
};

inline constexpr uint32_t kMaxFunctions = 1U << 16;
inline constexpr uint32_t kMaxImages = 1U << 15;
inline constexpr uint32_t kMaxContexts = 1024;  // of which the device is kept
inline constexpr uint32_t kMaxDevices = 64;
inline constexpr uint32_t kMaxCaptures = 4096;  // at the same time
inline constexpr uint32_t kRepeats = 1024;      // slots for errors that repeat

struct State {
  std::atomic<uint32_t> epoch;   // 0: this process has recorded nothing yet
  std::atomic<uint32_t> failed;  // 1: no file could be made; calls go through
  std::atomic<uint32_t> captures_live;
  std::atomic<uint32_t> logs_registered;
  std::atomic<uint32_t> nodes_destroyed;  // 1: cuGraphDestroyNode was called
  pthread_mutex_t lock;                   // all zero is unlocked
  pthread_mutex_t shared_ring;            // of the records of ring 0, which many threads write
  trace::FileHeader* file;
  trace::RingHeader** rings;  // that exist in the file, by number, to find a free one
  int ring_errno;
  std::atomic<uint32_t> streams;
  std::atomic<uint32_t> contexts;
  std::atomic<uint32_t> images;
  std::atomic<uint32_t> graphs;
  std::atomic<uint32_t> captures;
  std::atomic<uint64_t> image_bytes;  // copied
  uint64_t renewed;                   // clock of the latest renewal of FileHeader::latest
  char ring_path[512];
  char event_path[512];
  // A capture that is going on has its id at that id modulo kMaxCaptures: streams and events that
  // joined it may keep the id when it is over.
  std::atomic<uint32_t> capture_live[kMaxCaptures];
  std::atomic<uint32_t> context_device[kMaxContexts];  // device + 1, 0: not known
  std::atomic<uint32_t> repeats[kRepeats];
  std::atomic<uint64_t> device_seen[kMaxDevices][4];  // bits of CUdevice_attribute
  HandleMap map;
  ImageShadow image[kMaxImages];
  FunctionShadow function[kMaxFunctions];
};

inline constexpr uint32_t kNoEpoch = UINT32_MAX;

/// Of the calling thread. At most 64 bytes: more of it could not be loaded into a running program.
struct Thread {
  trace::RingHeader* ring;
  trace::Record* records;  // of the ring
  uint32_t own_epoch;      // State::epoch while it has a ring of its own, else kNoEpoch
  uint32_t epoch;          // State::epoch while it has a ring, 0 before
  uint32_t tid;
  uint16_t context;
  uint16_t previous_context;
  bool shared_ring;
  bool wants_device;  // of the current context the device is not known yet
};
static_assert(sizeof(Thread) <= 64);

// Hidden, not only by -fvisibility: an access must not go through the GOT.
extern __attribute__((visibility("hidden"))) State* state;
extern __attribute__((visibility("hidden"))) const trace::ShimTable* shim;
// __thread, because thread_local asks at every use whether another file has to construct it first.
extern __attribute__((visibility("hidden"), tls_model("initial-exec"))) __thread Thread thread;
extern __attribute__((visibility("hidden"))) uint64_t record_mask;  // records of a ring - 1
extern __attribute__((visibility("hidden"))) bool timed;
extern __attribute__((visibility("hidden"))) bool clock_is_tsc;

/// What we do beside a call leaves errno as the call left it.
class KeepErrno {
 public:
  KeepErrno() : saved_(errno) {}
  ~KeepErrno() { errno = saved_; }
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  int saved_;
};

/// Held while a record of ring 0 is written; nothing for a thread with a ring of its own.
class SharedRingLock {
 public:
  explicit SharedRingLock(bool shared) : shared_(shared) {
    if (Unlikely(shared_)) pthread_mutex_lock(&state->shared_ring);
  }
  ~SharedRingLock() {
    if (Unlikely(shared_)) pthread_mutex_unlock(&state->shared_ring);
  }
  SharedRingLock(const SharedRingLock&) = delete;
  SharedRingLock& operator=(const SharedRingLock&) = delete;

 private:
  bool shared_;
};

class Lock {
 public:
  Lock() { pthread_mutex_lock(&state->lock); }
  ~Lock() { pthread_mutex_unlock(&state->lock); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

}  // namespace cuproof::inject
