#include "resource/bank.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace cuproof {
namespace {

constexpr uint32_t kWarp = 32;
constexpr uint64_t kSharedBytes = 1 << 20;  // past what any GPU gives a block

Error Usage(std::string phrase) {
  return Error{ErrorCode::kUsage, std::move(phrase), "", std::nullopt};
}

using Lanes = std::span<const uint64_t>;

/// Whether each lane wants what its neighbour at that distance wants. A lane that is not there
/// agrees.
bool Pairs(Lanes lanes, size_t distance) {
  for (size_t i = 0; i < lanes.size(); ++i) {
    const size_t other = i ^ distance;
    if (other < lanes.size() && lanes[i] != lanes[other]) return false;
  }
  return true;
}

/// The rule that public measurements of vector accesses agree on: two parts go as one when every
/// lane shares its element with the lane beside it, or with the lane two away.
bool GoTogether(Lanes lanes) { return Pairs(lanes, 1) || Pairs(lanes, 2); }

/// One pass over the banks, or as many as the fullest bank has words.
void AddPart(Lanes lanes, uint32_t element_bytes, uint32_t& worst, WarpCost& cost) {
  if (lanes.empty()) return;
  std::vector<uint64_t> words;
  for (const uint64_t element : lanes) {
    const uint64_t first = element * element_bytes / kBankBytes;
    const uint64_t count = std::max(element_bytes / kBankBytes, uint32_t{1});
    for (uint64_t i = 0; i < count; ++i) words.push_back(first + i);
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::array<uint32_t, kBanks> of_bank{};
  for (const uint64_t word : words) ++of_bank[word % kBanks];
  const auto fullest = std::max_element(of_bank.begin(), of_bank.end());
  cost.wavefronts += *fullest;
  cost.least += static_cast<uint32_t>((words.size() + kBanks - 1) / kBanks);
  if (*fullest > worst) {
    worst = *fullest;
    cost.worst_bank = static_cast<uint32_t>(fullest - of_bank.begin());
  }
}

Lanes Part(Lanes lanes, size_t from, size_t count) {
  if (from >= lanes.size()) return {};
  return lanes.subspan(from, std::min(count, lanes.size() - from));
}

}  // namespace

Result<BankAccess> BankAccess::Parse(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string size(text.substr(0, colon));
  BankAccess access;
  access.element_bytes = 0;
  for (const uint32_t bytes : {1u, 2u, 4u, 8u, 16u}) {
    if (size == std::to_string(bytes)) access.element_bytes = bytes;
  }
  if (colon == std::string_view::npos || access.element_bytes == 0) {
    return Usage(fmt::format(
        "--bank: expected bytes of an element (1, 2, 4, 8 or 16), a colon and an index, as "
        "'4: tx*33 + ty', got '{}'",
        text));
  }
  auto index = BankIndex::Parse(text.substr(colon + 1));
  if (!index) return index.error();
  access.index = std::move(*index);
  return access;
}

WarpCost CostOfWarp(const LaneElements& elements, uint32_t element_bytes) {
  WarpCost cost;
  uint32_t worst = 0;
  const Lanes lanes(elements);
  if (element_bytes <= 4 || (element_bytes == 8 && GoTogether(lanes))) {
    AddPart(lanes, element_bytes, worst, cost);
    return cost;
  }
  for (size_t half = 0; half < kWarp; half += kWarp / 2) {
    const Lanes of_half = Part(lanes, half, kWarp / 2);
    if (element_bytes == 8 || GoTogether(of_half)) {
      AddPart(of_half, element_bytes, worst, cost);
      continue;
    }
    AddPart(Part(of_half, 0, kWarp / 4), element_bytes, worst, cost);
    AddPart(Part(of_half, kWarp / 4, kWarp / 4), element_bytes, worst, cost);
  }
  return cost;
}

Result<std::vector<LaneElements>> ElementsOfBlock(const BankAccess& access,
                                                  const std::array<uint32_t, 3>& block) {
  std::vector<LaneElements> warps;
  const uint32_t threads = block[0] * block[1] * block[2];
  for (uint32_t id = 0; id < threads; ++id) {
    if (id % kWarp == 0) warps.emplace_back();
    const ThreadPlace place = {id % block[0], id / block[0] % block[1], id / block[0] / block[1],
                               id % kWarp};
    const auto element = access.index.At(place);
    if (!element) return element.error();
    if (*element < 0 || static_cast<uint64_t>(*element) >= kSharedBytes / access.element_bytes) {
      return Usage(fmt::format(
          "--bank: '{}' is {} for thread ({}, {}, {}): expected an element within 1 MiB from the "
          "start of the array",
          access.index.text(), *element, place.x, place.y, place.z));
    }
    warps.back().push_back(static_cast<uint64_t>(*element));
  }
  return warps;
}

WarpCost CostOfBlock(const std::vector<LaneElements>& warps, uint32_t element_bytes) {
  WarpCost sum;
  uint32_t worst = 0;
  for (const LaneElements& warp : warps) {
    const WarpCost cost = CostOfWarp(warp, element_bytes);
    sum.wavefronts += cost.wavefronts;
    sum.least += cost.least;
    if (cost.wavefronts > worst) {
      worst = cost.wavefronts;
      sum.worst_bank = cost.worst_bank;
    }
  }
  return sum;
}

}  // namespace cuproof
