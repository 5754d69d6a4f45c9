#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/result.h"
#include "resource/bank_index.h"

namespace cuproof {

inline constexpr uint32_t kBanks = 32;
inline constexpr uint32_t kBankBytes = 4;

/// One access to an array in shared memory by every thread of a block. The array starts at a
/// multiple of 128 bytes.
struct BankAccess {
  uint32_t element_bytes = 4;  // 1, 2, 4, 8 or 16: what one instruction moves for a thread
  BankIndex index;

  /// "4: tx*33 + ty".
  static Result<BankAccess> Parse(std::string_view text);
};

/// What one warp's access costs: passes through the banks.
struct WarpCost {
  uint32_t wavefronts = 0;  // of a load
  uint32_t least = 0;       // of a load with no two words of one bank in a pass
  uint32_t as_store = 0;    // of a store to the same place
};

/// Elements that the lanes of one warp touch; a warp that is not full has fewer.
using LaneElements = std::vector<uint64_t>;

/// Passes that the hardware makes of one access. A warp goes as a whole for elements of up to 4
/// bytes, as halves for 8, as quarters for 16; parts whose neighbours want the same go together.
WarpCost CostOfWarp(const LaneElements& elements, uint32_t element_bytes);

/// The elements of every warp of a block, in the order of thread ids.
Result<std::vector<LaneElements>> ElementsOfBlock(const BankAccess& access,
                                                  const std::array<uint32_t, 3>& block);

/// Of a whole block: the sum over its warps.
WarpCost CostOfBlock(const std::vector<LaneElements>& warps, uint32_t element_bytes);

/// A layout of the same array under which the accesses collide least.
struct BankFix {
  enum class Kind : uint8_t { kPadding, kSwizzle };
  Kind kind = Kind::kPadding;
  uint64_t every = 0;       // elements of a row
  uint64_t elements = 0;    // padding: unused ones behind each row
  uint64_t mask = 0;        // swizzle: element ^ ((element / every) & mask)
  uint64_t bytes = 0;       // more of the array, as far as the accesses reach
  uint32_t wavefronts = 0;  // of all warps and accesses

  uint64_t Moved(uint64_t element) const;
};

/// The cheapest padding and the cheapest swizzle of one array, each at the fewest wavefronts that
/// it can bring all accesses to; none that brings nothing. All have one element size. `rows`:
/// lengths of rows, in elements, to try besides powers of two.
std::vector<BankFix> FixesOf(const std::vector<std::vector<LaneElements>>& accesses,
                             uint32_t element_bytes, const std::vector<uint64_t>& rows);

}  // namespace cuproof
