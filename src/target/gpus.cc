#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "target/edit_distance.h"
#include "target/facts.h"
#include "target/table.h"
#include "target/target.h"

namespace cuproof {
namespace {

// "NVIDIA GeForce RTX 4090" and "rtx4090" are the same name: letters and digits, without the words
// that people leave out.
std::string NormalName(std::string_view text) {
  std::string name;
  std::string word;
  const auto flush = [&] {
    if (word != "nvidia" && word != "geforce" && word != "tesla" && word != "gpu") name += word;
    word.clear();
  };
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      flush();
    }
  }
  flush();
  return name;
}

Gpu FromArch(uint32_t sm) {
  Gpu gpu;
  gpu.sm = sm;
  if (const ArchFact* fact = FindArch(sm)) {
    gpu.product = fact->example;
    gpu.platform = fact->platform;
  } else {
    gpu.in_data = false;
  }
  return gpu;
}

// "sm_90", "sm90", "compute_90", "90", "9.0", "sm_90a"; 0 when it is none of these.
uint32_t ParseSm(std::string_view text) {
  for (const std::string_view prefix : {"sm_", "compute_", "sm"}) {
    if (text.substr(0, prefix.size()) == prefix) {
      text.remove_prefix(prefix.size());
      break;
    }
  }
  if (!text.empty() && (text.back() == 'a' || text.back() == 'f')) text.remove_suffix(1);
  if (const Version capability = ParseVersion(text); capability.known()) {
    return capability.major >= 5 && capability.major < 100 && capability.minor < 10
               ? capability.major * 10u + capability.minor
               : 0;
  }
  const uint32_t sm = ParseNumber(text);
  return sm >= 20 && sm < 1000 ? sm : 0;
}

// The known number that a number which is none was meant to be: of the same major the highest below
// it, else the nearest. 0 for a number above all known ones, which a GPU yet to come may have.
uint32_t MeantSm(uint32_t sm) {
  const std::vector<ArchFact>& facts = ArchFacts();
  if (facts.empty() || sm > facts.back().sm) return 0;
  const auto distance = [&](uint32_t known) {
    const uint32_t apart = known > sm ? known - sm : sm - known;
    return apart + (known / 10 == sm / 10 && known < sm ? 0 : 1000);
  };
  uint32_t meant = facts.front().sm;
  for (const ArchFact& fact : facts) {
    if (distance(fact.sm) < distance(meant)) meant = fact.sm;
  }
  return meant;
}

// Product name, in every spelling of the table, to its row.
const std::multimap<std::string, size_t>& Names() {
  static const std::multimap<std::string, size_t> kNames = [] {
    std::multimap<std::string, size_t> names;
    const Table& table = Table::Get("gpus");
    for (size_t i = 0; i < table.size(); ++i) {
      names.emplace(NormalName(table.At(i, "name")), i);
      for (const std::string_view alias : SplitList(table.At(i, "aliases"), ';')) {
        if (!alias.empty()) names.emplace(NormalName(alias), i);
      }
    }
    return names;
  }();
  return kNames;
}

std::vector<std::string> NearestNames(const std::string& name) {
  std::vector<std::pair<size_t, size_t>> scored;
  for (const auto& [known, row] : Names()) {
    const size_t distance = EditDistance(name, known);
    const bool inside = name.size() >= 3 && known.find(name) != std::string::npos;
    if (distance <= std::max<size_t>(1, name.size() / 4) || inside)
      scored.emplace_back(distance, row);
  }
  std::sort(scored.begin(), scored.end());
  std::vector<std::string> nearest;
  for (const auto& [distance, row] : scored) {
    std::string text(Table::Get("gpus").At(row, "name"));
    if (std::find(nearest.begin(), nearest.end(), text) == nearest.end()) nearest.push_back(text);
    if (nearest.size() == 4) break;
  }
  return nearest;
}

}  // namespace

std::string GpuTarget(const Gpu& gpu) { return fmt::format("sm_{}", gpu.sm); }

std::vector<Gpu> AllGpus(bool tegra) {
  std::vector<Gpu> gpus;
  for (const ArchFact& fact : ArchFacts()) {
    const bool superseded = CurrentSm(fact.sm) != fact.sm;
    if (superseded || fact.platform == Platform::kUnknown) continue;
    if (fact.platform == Platform::kTegra && !tegra) continue;
    gpus.push_back(FromArch(fact.sm));
  }
  return gpus;
}

Result<std::vector<Gpu>> FindGpus(std::string_view text) {
  if (text == "all") return AllGpus(true);
  const std::string name = NormalName(text);
  std::map<uint32_t, Gpu> found;
  const auto [begin, end] = Names().equal_range(name);
  for (auto at = begin; at != end; ++at) {
    Gpu gpu = FromArch(ParseNumber(Table::Get("gpus").At(at->second, "sm")));
    gpu.product = Table::Get("gpus").At(at->second, "name");
    gpu.chip = Table::Get("gpus").At(at->second, "chip");
    found.emplace(gpu.sm, std::move(gpu));
  }
  if (!found.empty()) {
    std::vector<Gpu> gpus;
    for (auto& [sm, gpu] : found) gpus.push_back(std::move(gpu));
    return gpus;
  }
  // After the names: 980 is a card.
  if (const uint32_t sm = CurrentSm(ParseSm(text))) {
    const uint32_t meant = FindArch(sm) ? 0 : MeantSm(sm);
    if (meant == 0) return std::vector<Gpu>{FromArch(sm)};
    return Error{ErrorCode::kUsage,
                 fmt::format("--gpu: no GPU sm_{} is known; did you mean sm_{}?", sm, meant), "",
                 std::nullopt};
  }
  const std::vector<std::string> nearest = NearestNames(name);
  return Error{ErrorCode::kUsage,
               fmt::format("--gpu: no GPU is known as '{}'; {}", text,
                           nearest.empty()
                               ? std::string("give sm_90, 9.0, a product name such as H200, or all")
                               : fmt::format("did you mean {}?", fmt::join(nearest, ", "))),
               "", std::nullopt};
}

}  // namespace cuproof
