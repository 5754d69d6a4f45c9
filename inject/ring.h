#pragma once
#include <x86intrin.h>

#include "state.h"

namespace cuproof::inject {

uint64_t SlowClock();

inline uint64_t Clock() { return clock_is_tsc ? __rdtsc() : SlowClock(); }

trace::ClockPair ReadClockPair();

/// True where the time stamp counter runs at one rate in every power state (CPUID).
bool TscIsConstant();

/// Gives the thread a ring, and the process its files, if it has none. False: nothing is recorded.
bool Attach();

/// True when the thread can record.
inline bool Attached() {
  const uint32_t epoch = state->epoch.load(std::memory_order_relaxed);
  return (thread.epoch == epoch && epoch != 0) || Attach();
}

/// True when it can record into a ring of its own: two loads and a compare.
inline bool HasOwnRing() {
  return !Unlikely(thread.own_epoch != state->epoch.load(std::memory_order_relaxed));
}

/// Called once, before the first hook.
void PrepareThreads();

/// Adds 1. A ring has one writer, so a plain addition will do; ring 0 has many.
template <bool kShared>
inline void Add(std::atomic<uint64_t>& counter) {
  if (kShared) {
    counter.fetch_add(1, std::memory_order_relaxed);
  } else {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
}

/// A record that is being written, under SharedRingLock until it is published. It is whole, but for
/// the result, before the driver is called.
struct Open {
  trace::Record* record;
  uint32_t sequence;
};

/// Renews FileHeader::latest if a second has gone by. Off the hot path.
void RenewClock();

template <bool kShared>
inline Open BeginIn(trace::Op op, uint64_t clock) {
  trace::RingHeader* ring = thread.ring;
  uint64_t number;
  if (kShared) {
    number = ring->head.fetch_add(1, std::memory_order_relaxed);
  } else {
    number = ring->head.load(std::memory_order_relaxed);
    ring->head.store(number + 1, std::memory_order_release);
  }
  Add<kShared>(ring->op_counts[static_cast<uint32_t>(op)]);
  const uint64_t place = number & record_mask;
  if (Unlikely(place == 0)) RenewClock();
  trace::Record* record = thread.records + place;
  __atomic_store_n(&record->sequence, 0, __ATOMIC_RELAXED);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  record->op = static_cast<uint16_t>(op);
  record->clock = clock;
  record->result = trace::kPending;
  record->duration = 0;
  return {record, static_cast<uint32_t>(number + 1)};
}

inline Open Begin(trace::Op op, uint64_t clock) {
  return Unlikely(thread.shared_ring) ? BeginIn<true>(op, clock) : BeginIn<false>(op, clock);
}

inline void Publish(const Open& open) {
  __atomic_store_n(&open.record->sequence, open.sequence, __ATOMIC_RELEASE);
}

/// The record of a call that is no launch of a kernel.
__attribute__((always_inline)) inline Open BeginCall(trace::Op op, uint64_t clock, uint16_t flags,
                                                     uint32_t stream, uint32_t capture,
                                                     uint64_t aux) {
  const SharedRingLock lock(thread.shared_ring);
  const Open open = Begin(op, clock);
  trace::Record& record = *open.record;
  record.flags = flags;
  if (capture != 0) record.flags |= trace::kCaptured;
  record.function = 0;
  record.stream = stream;
  record.grid_x = 0;
  for (uint16_t& blocks : record.grid_yz) blocks = 0;
  for (uint16_t& threads : record.block) threads = 0;
  record.context = thread.context;
  record.shared = 0;
  record.capture = capture;
  record.aux = aux;
  Publish(open);
  return open;
}

/// The record may have been overwritten meanwhile, in the shared ring or after a very long call.
inline bool Ours(const Open& open) {
  return __atomic_load_n(&open.record->sequence, __ATOMIC_RELAXED) == open.sequence;
}

inline void SetDuration(const Open& open, uint64_t ticks) {
  open.record->duration = ticks > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(ticks);
  open.record->flags |= trace::kTimed;
}

inline void Finish(const Open& open, int result) {
  if (!Unlikely(!Ours(open))) open.record->result = result;
}

/// The same, with the time that it took, for a thread that may share its ring.
inline void FinishCall(const Open& open, int result, bool with_time) {
  const SharedRingLock lock(thread.shared_ring);
  Finish(open, result);
  if (Unlikely(with_time) && Ours(open)) SetDuration(open, Clock() - open.record->clock);
}

}  // namespace cuproof::inject
