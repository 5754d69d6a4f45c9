#include <algorithm>
#include <optional>

#include "resource/bank.h"

namespace cuproof {
namespace {

using Accesses = std::vector<std::vector<LaneElements>>;

uint32_t WavefrontsUnder(const BankFix& fix, const Accesses& accesses, uint32_t element_bytes) {
  uint32_t sum = 0;
  LaneElements moved;
  for (const auto& warps : accesses) {
    for (const LaneElements& warp : warps) {
      moved.assign(warp.begin(), warp.end());
      for (uint64_t& element : moved) element = fix.Moved(element);
      sum += CostOfWarp(moved, element_bytes).wavefronts;
    }
  }
  return sum;
}

uint64_t LastElement(const Accesses& accesses) {
  uint64_t last = 0;
  for (const auto& warps : accesses) {
    for (const LaneElements& warp : warps) {
      last = std::max(last, *std::max_element(warp.begin(), warp.end()));
    }
  }
  return last;
}

uint32_t WavefrontsNow(const Accesses& accesses, uint32_t element_bytes, uint32_t& least) {
  uint32_t now = 0;
  for (const auto& warps : accesses) {
    const WarpCost cost = CostOfBlock(warps, element_bytes);
    now += cost.wavefronts;
    least += cost.least;
  }
  return now;
}

/// Keeps the better: fewer wavefronts, then fewer bytes, then the longer row.
void Keep(const BankFix& fix, std::optional<BankFix>& best) {
  if (!best || fix.wavefronts < best->wavefronts ||
      (fix.wavefronts == best->wavefronts && fix.bytes < best->bytes)) {
    best = fix;
  }
}

struct Search {
  const Accesses& accesses;
  uint32_t element_bytes;
  uint64_t last;  // element that the accesses reach

  uint64_t OfAllBanks() const { return kBanks * kBankBytes / element_bytes; }

  void Try(BankFix fix, std::optional<BankFix>& best) const {
    fix.wavefronts = WavefrontsUnder(fix, accesses, element_bytes);
    Keep(fix, best);
  }

  /// From the width of a bank, or one element, to half of all banks.
  void Pad(uint64_t row, std::optional<BankFix>& best) const {
    const uint64_t most = OfAllBanks() / 2;
    for (uint64_t add = std::max(kBankBytes / element_bytes, 1u); add <= most; add *= 2) {
      Try({BankFix::Kind::kPadding, row, add, 0, last / row * add * element_bytes, 0}, best);
    }
  }

  /// `row` is a power of two: so a swizzle stays within its row.
  void Swizzle(uint64_t row, std::optional<BankFix>& best) const {
    for (uint64_t mask = OfAllBanks() - 1; mask > 0; mask /= 2) {
      if (mask < row) Try({BankFix::Kind::kSwizzle, row, 0, mask, 0, 0}, best);
    }
  }
};

}  // namespace

uint64_t BankFix::Moved(uint64_t element) const {
  const uint64_t row = element / every;
  return kind == Kind::kPadding ? element + row * elements : element ^ (row & mask);
}

std::vector<BankFix> FixesOf(const Accesses& accesses, uint32_t element_bytes,
                             const std::vector<uint64_t>& rows) {
  uint32_t least = 0;
  const uint32_t now = WavefrontsNow(accesses, element_bytes, least);
  if (now == least) return {};
  const Search search = {accesses, element_bytes, LastElement(accesses)};
  std::optional<BankFix> padding, swizzle;
  for (const uint64_t row : rows) search.Pad(row, padding);
  for (uint64_t row = search.OfAllBanks() / 2; row <= search.last; row *= 2) {
    search.Pad(row, padding);
    search.Swizzle(row, swizzle);
  }
  std::vector<BankFix> fixes;
  for (const auto& fix : {padding, swizzle}) {
    if (fix && fix->wavefronts < now) fixes.push_back(*fix);
  }
  return fixes;
}

}  // namespace cuproof
