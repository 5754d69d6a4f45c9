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

struct Passes {
  uint32_t needed = 0;
  uint32_t least = 0;  // as many words, evenly dealt to the banks
};

/// One pass over the banks, or as many as the fullest bank has words.
Passes PassesOf(Lanes lanes, uint32_t element_bytes) {
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
  return {*std::max_element(of_bank.begin(), of_bank.end()),
          static_cast<uint32_t>((words.size() + kBanks - 1) / kBanks)};
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
  std::string_view rest = text.substr(colon + 1);
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  auto index = BankIndex::Parse(rest);
  if (!index) return index.error();
  access.index = std::move(*index);
  return access;
}

WarpCost CostOfWarp(const LaneElements& elements, uint32_t element_bytes) {
  WarpCost cost;
  const auto add_load = [&](Lanes part) {
    const Passes passes = PassesOf(part, element_bytes);
    cost.wavefronts += passes.needed;
    cost.least += passes.least;
  };
  // Lanes of one part of a store: 32, 16 or 8.
  const size_t of_part = kWarp / std::max(element_bytes / kBankBytes, uint32_t{1});
  for (size_t part = 0; part < kWarp; part += of_part)
    cost.as_store += PassesOf(Part(elements, part, of_part), element_bytes).needed;
  const size_t of_pair = std::min<size_t>(2 * of_part, kWarp);
  for (size_t pair = 0; pair < kWarp; pair += of_pair) {
    const Lanes both = Part(elements, pair, of_pair);
    if (of_part == kWarp || GoTogether(both)) {
      add_load(both);
    } else {
      add_load(Part(both, 0, of_part));
      add_load(Part(both, of_part, of_part));
    }
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
  for (const LaneElements& warp : warps) {
    const WarpCost cost = CostOfWarp(warp, element_bytes);
    sum.wavefronts += cost.wavefronts;
    sum.least += cost.least;
    sum.as_store += cost.as_store;
  }
  return sum;
}

}  // namespace cuproof
