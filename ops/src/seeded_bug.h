// Faults that the tests must catch. A build with -DCUPROOF_OPS_SEEDED_BUG=N has the Nth of them; a
// shipped one has none, and no trace of them. tests/seeded_bugs.sh builds and runs all.
#ifndef CUPROOF_OPS_SEEDED_BUG_H
#define CUPROOF_OPS_SEEDED_BUG_H

#ifndef CUPROOF_OPS_SEEDED_BUG
#define CUPROOF_OPS_SEEDED_BUG 0
#endif

namespace cuproof::ops::seeded {

inline constexpr int kBug = CUPROOF_OPS_SEEDED_BUG;
inline constexpr int kBugs = 10;

inline constexpr bool kDroppedTail = kBug == 1;       // a last chunk that is not full is left out
inline constexpr bool kOffset32 = kBug == 2;          // element offsets in 32 bits
inline constexpr bool kWrongChunk = kBug == 3;        // large tensors read with the small chunk
inline constexpr bool kEmptyTensorShift = kBug == 4;  // the chunk goes to the tensor before
inline constexpr bool kWrongStream = kBug == 5;       // the second kernel goes to the legacy stream
inline constexpr bool kStaleTable = kBug == 6;        // the table of an earlier call of equal sizes
inline constexpr bool kMissingBarrier = kBug == 7;    // shared memory read before all have written
inline constexpr bool kMisalignedVector = kBug == 8;  // 16-byte loads from a rounded-down address
inline constexpr bool kInfinityIsFine = kBug == 9;    // only NaN is looked for, as x != x would
inline constexpr bool kMissingFence = kBug == 10;  // the second kernel does not wait for the first

}  // namespace cuproof::ops::seeded

#endif
