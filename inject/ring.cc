#include "ring.h"

#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "driver_types.h"
#include "events.h"

namespace cuproof::inject {

State* state = nullptr;
const trace::ShimTable* shim = nullptr;
__thread Thread thread = {nullptr, nullptr, kNoEpoch, 0, 0, 0, 0, false, false};
uint64_t record_mask = 0;
bool timed = false;
bool clock_is_tsc = false;

namespace {

using trace::FileHeader;
using trace::RingHeader;

pthread_key_t thread_end;
bool has_thread_end = false;

uint64_t Nanoseconds(clockid_t which) {
  timespec time;
  clock_gettime(which, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

uint64_t RingStride() { return trace::RingBytes(shim->records); }

// Allocates the bytes on the disk: a page of a mapping that finds no room there is a SIGBUS.
int Reserve(int file, uint64_t offset, uint64_t size) {
  if (fallocate(file, 0, static_cast<off_t>(offset), static_cast<off_t>(size)) == 0) return 0;
  if (errno != EOPNOTSUPP && errno != ENOSYS) return errno;
  static const char zeros[65536] = {};
  for (uint64_t done = 0; done < size;) {
    const uint64_t part = size - done < sizeof zeros ? size - done : sizeof zeros;
    const ssize_t written = pwrite(file, zeros, part, static_cast<off_t>(offset + done));
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    done += static_cast<uint64_t>(written);
  }
  return 0;
}

void* MapPart(int file, uint64_t offset, uint64_t size, int* error) {
  *error = Reserve(file, offset, size);
  if (*error != 0) {
    // What was reserved in part is of no use to anybody.
    if (ftruncate(file, static_cast<off_t>(offset)) != 0) return nullptr;
    return nullptr;
  }
  // Populated: the first touch of a page costs ten times a record.
  void* part = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file,
                    static_cast<off_t>(offset));
  if (part != MAP_FAILED) return part;
  *error = errno;
  return nullptr;
}

int OpenRingFile() {
  const long pid = static_cast<long>(getpid());
  // A process id comes back after a wrap, and in every container.
  for (int attempt = 1; attempt < 10000; ++attempt) {
    char suffix[16] = "";
    if (attempt > 1) snprintf(suffix, sizeof suffix, ".%d", attempt);
    const int length = snprintf(state->ring_path, sizeof state->ring_path, "%s/%ld%s.ring",
                                shim->folder, pid, suffix);
    if (length < 0 || static_cast<size_t>(length) >= sizeof state->ring_path) {
      errno = ENAMETOOLONG;
      return -1;
    }
    snprintf(state->event_path, sizeof state->event_path, "%s/%ld%s.jsonl", shim->folder, pid,
             suffix);
    const int file =
        open(state->ring_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

// The file's head and ring 0. With the lock held.
bool MakeFile() {
  const int file = OpenRingFile();
  if (file < 0) {
    state->ring_errno = errno;
    return false;
  }
  int error = 0;
  void* head = MapPart(file, 0, trace::kHeaderBytes + RingStride(), &error);
  close(file);
  if (head == nullptr) {
    state->ring_errno = error;
    unlink(state->ring_path);
    return false;
  }
  auto* header = static_cast<FileHeader*>(head);
  header->version = trace::kRingVersion;
  header->pid = static_cast<uint32_t>(getpid());
  header->parent_pid = static_cast<uint32_t>(getppid());
  header->clock_kind = clock_is_tsc ? trace::ClockKind::kTsc : trace::ClockKind::kMonotonic;
  header->records = shim->records;
  header->max_rings = shim->max_rings;
  header->ring_bytes = RingStride();
  header->start = ReadClockPair();
  header->latest = header->start;
  header->rings.store(1, std::memory_order_relaxed);
  // Last: a reader that comes now sees a whole head or none.
  __atomic_store_n(&header->magic, trace::kRingMagic, __ATOMIC_RELEASE);
  state->file = header;
  state->renewed = header->start.monotonic_ns;
  return true;
}

RingHeader* SharedRing() {
  return reinterpret_cast<RingHeader*>(reinterpret_cast<char*>(state->file) + trace::kHeaderBytes);
}

// With the lock held.
bool HasRingTable() {
  if (state->rings != nullptr) return true;
  void* table = mmap(nullptr, sizeof(RingHeader*) * (uint64_t{shim->max_rings} + 1),
                     PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (table == MAP_FAILED) return false;
  state->rings = static_cast<RingHeader**>(table);
  return true;
}

// With the lock held.
RingHeader* NewRing() {
  if (!HasRingTable()) return nullptr;
  const uint32_t count = state->file->rings.load(std::memory_order_relaxed);
  for (uint32_t i = 1; i < count; ++i) {
    if (state->rings[i]->in_use.load(std::memory_order_acquire) == 0) return state->rings[i];
  }
  if (count > shim->max_rings || state->ring_errno != 0) return nullptr;
  const int file = open(state->ring_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) {
    state->ring_errno = errno;
    return nullptr;
  }
  int error = 0;
  void* part = MapPart(file, trace::kHeaderBytes + count * RingStride(), RingStride(), &error);
  close(file);
  if (part == nullptr) {
    state->ring_errno = error;
    return nullptr;
  }
  auto* ring = static_cast<RingHeader*>(part);
  ring->number = count;
  state->rings[count] = ring;
  state->file->rings.store(count + 1, std::memory_order_release);
  return ring;
}

void EndThread(void* epoch) {
  // The key's value tells which process took the ring: in a forked child it is not this one's.
  const auto taken = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(epoch));
  if (thread.epoch != taken || state->epoch.load(std::memory_order_relaxed) != taken) return;
  if (!thread.shared_ring) thread.ring->in_use.store(0, std::memory_order_release);
  thread.epoch = 0;
  thread.own_epoch = kNoEpoch;
  thread.ring = nullptr;
}

}  // namespace

bool TscIsConstant() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0x80000007, &a, &b, &c, &d) == 0) return false;
  return (d & (1U << 8)) != 0;  // InvariantTSC (Intel SDM volume 2, CPUID; AMD APM volume 3)
}

uint64_t SlowClock() { return Nanoseconds(CLOCK_MONOTONIC); }

trace::ClockPair ReadClockPair() {
  // The counter between two readings of the other clock, the narrowest of a few.
  trace::ClockPair best = {};
  uint64_t narrowest = UINT64_MAX;
  for (int i = 0; i < 4; ++i) {
    const uint64_t before = Nanoseconds(CLOCK_MONOTONIC);
    const uint64_t clock = Clock();
    const uint64_t after = Nanoseconds(CLOCK_MONOTONIC);
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = {clock, before + (after - before) / 2, Nanoseconds(CLOCK_REALTIME)};
  }
  return best;
}

void RenewClock() {
  const uint64_t now = Nanoseconds(CLOCK_MONOTONIC);
  if (state->file == nullptr ||
      now - __atomic_load_n(&state->renewed, __ATOMIC_RELAXED) < 1'000'000'000) {
    return;
  }
  if (pthread_mutex_trylock(&state->lock) != 0) return;
  if (now - state->renewed >= 1'000'000'000) {
    __atomic_store_n(&state->renewed, now, __ATOMIC_RELAXED);
    state->file->latest = ReadClockPair();
  }
  pthread_mutex_unlock(&state->lock);
}

void PrepareThreads() { has_thread_end = pthread_key_create(&thread_end, EndThread) == 0; }

bool Attach() {
  if (state->failed.load(std::memory_order_relaxed) != 0) return false;
  const KeepErrno keep;
  static std::atomic<uint32_t> next_epoch{1};
  const bool forked = thread.epoch != 0 && state->epoch.load(std::memory_order_relaxed) == 0;
  bool fresh = false;
  bool full = false;
  {
    Lock lock;
    if (state->file == nullptr) {
      if (state->failed.load(std::memory_order_relaxed) != 0) return false;
      if (!MakeFile()) {
        state->failed.store(1, std::memory_order_relaxed);
        return false;
      }
      fresh = true;
      // Never one that another process of this tree had: threads compare it with their own.
      state->epoch.store(next_epoch.fetch_add(1, std::memory_order_relaxed),
                         std::memory_order_release);
    }
    RingHeader* ring = NewRing();
    const bool shared = ring == nullptr;
    if (shared) {
      ring = SharedRing();
      full = state->file->ring_failures.fetch_add(1, std::memory_order_relaxed) == 0;
    }
    thread.tid = static_cast<uint32_t>(syscall(SYS_gettid));
    ring->thread.store(shared ? 0 : thread.tid, std::memory_order_relaxed);
    ring->in_use.store(1, std::memory_order_relaxed);
    ring->owners.fetch_add(1, std::memory_order_relaxed);
    thread.ring = ring;
    thread.records = reinterpret_cast<trace::Record*>(ring + 1);
    thread.shared_ring = shared;
    thread.context = 0;
    thread.previous_context = 0;
    thread.epoch = state->epoch.load(std::memory_order_relaxed);
    thread.own_epoch = shared ? kNoEpoch : thread.epoch;
  }
  if (has_thread_end && !thread.shared_ring) {
    pthread_setspecific(thread_end, AsHandle(thread.epoch));
  }
  if (fresh) {
    WriteProcessEvents(forked);
  }
  if (full) WriteLost("ring", state->ring_errno);
  return true;
}

}  // namespace cuproof::inject
