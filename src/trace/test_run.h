#pragma once
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "trace/record.h"

// The files of a recorded run, written by hand for tests.
namespace cuproof::trace::test {

/// PID.ring of a process, byte by byte as a writer leaves it.
class RingBytes {
 public:
  explicit RingBytes(uint32_t pid, uint32_t rings = 2, uint32_t records = 8) : records_(records) {
    const uint64_t ring_bytes = trace::RingBytes(records);
    bytes_.assign(kHeaderBytes + rings * ring_bytes, '\0');
    Put(offsetof(FileHeader, magic), kRingMagic);
    Put(offsetof(FileHeader, version), kRingVersion);
    Put(offsetof(FileHeader, pid), pid);
    Put(offsetof(FileHeader, parent_pid), uint32_t{1});
    Put(offsetof(FileHeader, clock_kind), ClockKind::kMonotonic);
    Put(offsetof(FileHeader, records), records);
    Put(offsetof(FileHeader, max_rings), rings);
    Put(offsetof(FileHeader, ring_bytes), ring_bytes);
    Put(offsetof(FileHeader, start), ClockPair{1000, 1000, 5000});
    Put(offsetof(FileHeader, rings), rings);
    for (uint32_t ring = 0; ring < rings; ++ring) {
      PutRing(ring, offsetof(RingHeader, thread), pid + ring);
      PutRing(ring, offsetof(RingHeader, number), ring);
    }
  }

  template <typename T>
  void Put(uint64_t offset, const T& value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
  }
  template <typename T>
  void PutRing(uint32_t ring, uint64_t offset, const T& value) {
    Put(RingAt(ring) + offset, value);
  }
  template <typename T>
  T Get(uint64_t offset) const {
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  uint64_t RingAt(uint32_t ring) const { return kHeaderBytes + ring * trace::RingBytes(records_); }
  uint64_t RecordAt(uint32_t ring, uint64_t number) const {
    return RingAt(ring) + sizeof(RingHeader) + number % records_ * sizeof(Record);
  }

  /// Writes the next record of a ring, and counts it.
  void Add(uint32_t ring, Op op, const Record& what = {}) {
    Record record = what;
    const uint64_t at = RingAt(ring);
    const auto number = Get<uint64_t>(at + offsetof(RingHeader, head));
    record.sequence = static_cast<uint32_t>(number + 1);
    record.op = static_cast<uint16_t>(op);
    Put(RecordAt(ring, number), record);
    PutRing(ring, offsetof(RingHeader, head), number + 1);
    Count(at + offsetof(RingHeader, op_counts) + 8 * record.op);
    if (op < Op::kLaunchKernel || op > Op::kLaunchLegacy) return;
    Count(at + (record.function ? offsetof(RingHeader, launches) + 8 * record.function
                                : offsetof(RingHeader, other_functions)));
  }

  std::string& bytes() { return bytes_; }

 private:
  void Count(uint64_t offset) { Put(offset, Get<uint64_t>(offset) + 1); }

  uint32_t records_;
  std::string bytes_;
};

/// A launch of a function at a time.
inline Record Launch(uint32_t function, uint64_t clock, uint32_t stream = 0, int32_t result = 0) {
  Record record{};
  record.function = function;
  record.clock = clock;
  record.stream = stream;
  record.result = result;
  record.grid_x = 4;
  record.grid_yz[0] = record.grid_yz[1] = 1;
  record.block[0] = 256;
  record.block[1] = record.block[2] = 1;
  return record;
}

}  // namespace cuproof::trace::test
