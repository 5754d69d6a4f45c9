#include "target/facts.h"

#include <algorithm>

#include "target/table.h"

namespace cuproof {
namespace {

Platform ParsePlatform(std::string_view text) {
  if (text == "desktop") return Platform::kDesktop;
  if (text == "tegra") return Platform::kTegra;
  return Platform::kUnknown;
}

std::vector<ArchFact> ReadArchs() {
  const Table& table = Table::Get("archs");
  std::vector<ArchFact> facts;
  for (size_t i = 0; i < table.size(); ++i) {
    ArchFact fact;
    fact.sm = ParseNumber(table.At(i, "sm"));
    fact.name = table.At(i, "name");
    fact.platform = ParsePlatform(table.At(i, "platform"));
    fact.first_cuda = ParseVersion(table.At(i, "first_cuda"));
    fact.last_cuda = ParseVersion(table.At(i, "last_cuda"));
    fact.renamed_from = ParseNumber(table.At(i, "renamed_from"));
    fact.last_driver_branch = ParseNumber(table.At(i, "last_driver_branch"));
    if (table.At(i, "example") != "unknown") fact.example = table.At(i, "example");
    facts.push_back(std::move(fact));
  }
  std::sort(facts.begin(), facts.end(),
            [](const ArchFact& a, const ArchFact& b) { return a.sm < b.sm; });
  return facts;
}

const std::vector<IsaFact>& IsaFacts() {
  static const std::vector<IsaFact> kFacts = [] {
    const Table& table = Table::Get("ptx_isa");
    std::vector<IsaFact> facts;
    for (size_t i = 0; i < table.size(); ++i) {
      facts.push_back({ParseVersion(table.At(i, "isa")), ParseVersion(table.At(i, "cuda")),
                       ParseNumber(table.At(i, "driver_branch"))});
    }
    return facts;
  }();
  return kFacts;
}

std::vector<FirstDriver> ReadFirstDrivers(std::string_view name, std::string_view key) {
  const Table& table = Table::Get(name);
  std::vector<FirstDriver> facts;
  for (size_t i = 0; i < table.size(); ++i) {
    FirstDriver fact;
    const std::string_view text = table.At(i, key);
    fact.cuda = ParseVersion(text);
    if (!fact.cuda.known()) fact.cuda.major = static_cast<uint16_t>(ParseNumber(text));
    fact.number = table.At(i, "driver_linux");
    if (fact.number == "unknown") fact.number.clear();
    fact.branch = ParseNumber(table.At(i, "driver_branch"));
    if (fact.cuda.known() && fact.branch) facts.push_back(std::move(fact));
  }
  return facts;
}

const std::vector<FirstDriver>& ToolkitDrivers() {
  static const std::vector<FirstDriver> kFacts = ReadFirstDrivers("toolkits", "cuda");
  return kFacts;
}

}  // namespace

const std::vector<ArchFact>& ArchFacts() {
  static const std::vector<ArchFact> kFacts = ReadArchs();
  return kFacts;
}

const ArchFact* FindArch(uint32_t sm) {
  for (const ArchFact& fact : ArchFacts()) {
    if (fact.sm == sm) return &fact;
  }
  return nullptr;
}

uint32_t CurrentSm(uint32_t sm) {
  for (const ArchFact& fact : ArchFacts()) {
    if (fact.renamed_from == sm && sm != 0) return fact.sm;
  }
  return sm;
}

std::optional<bool> InFamily(uint32_t f, uint32_t sm) {
  const Table& table = Table::Get("families");
  bool known = false;
  for (size_t i = 0; i < table.size(); ++i) {
    if (ParseArch(table.At(i, "f_target")).number != f) continue;
    known = true;
    if (ParseNumber(table.At(i, "member")) == sm) return true;
  }
  if (!known) return std::nullopt;
  return false;
}

std::optional<Version> FirstIsa(Arch target) {
  const Table& table = Table::Get("ptx_targets");
  for (size_t i = 0; i < table.size(); ++i) {
    if (ParseArch(table.At(i, "target")) != target) continue;
    const Version isa = ParseVersion(table.At(i, "first_isa"));
    if (isa.known()) return isa;
  }
  return std::nullopt;
}

const IsaFact* FindIsa(Version isa) {
  for (const IsaFact& fact : IsaFacts()) {
    if (fact.isa == isa) return &fact;
  }
  return nullptr;
}

Version NewestIsaOf(Version cuda) {
  Version newest;
  for (const IsaFact& fact : IsaFacts()) {
    if (fact.cuda.known() && fact.cuda <= cuda) newest = std::max(newest, fact.isa);
  }
  return newest;
}

const FirstDriver* FirstDriverOf(Version cuda) {
  for (const FirstDriver& fact : ToolkitDrivers()) {
    if (fact.cuda == cuda) return &fact;
  }
  return nullptr;
}

const FirstDriver* MinorCompatibilityFloor(uint16_t major) {
  static const std::vector<FirstDriver> kFacts = ReadFirstDrivers("minor_compat", "cuda_major");
  for (const FirstDriver& fact : kFacts) {
    if (fact.cuda.major == major) return &fact;
  }
  return nullptr;
}

Version CudaOfBranch(uint32_t branch) {
  Version newest;
  for (const FirstDriver& fact : ToolkitDrivers()) {
    if (fact.branch <= branch) newest = std::max(newest, fact.cuda);
  }
  // CUDA 12.7 had a driver and a PTX ISA, but no toolkit of its own.
  for (const IsaFact& fact : IsaFacts()) {
    if (fact.branch && fact.branch <= branch) newest = std::max(newest, fact.cuda);
  }
  return newest;
}

uint32_t NewestBranch() {
  uint32_t newest = 0;
  for (const FirstDriver& fact : ToolkitDrivers()) newest = std::max(newest, fact.branch);
  return newest;
}

Version NewestCuda() {
  Version newest;
  for (const IsaFact& fact : IsaFacts()) newest = std::max(newest, fact.cuda);
  return newest;
}

bool NvccTargets(Version cuda, Arch arch) {
  const Table& table = Table::Get("nvcc_targets");
  for (size_t i = 0; i < table.size(); ++i) {
    if (ParseVersion(table.At(i, "cuda")) != cuda) continue;
    for (const std::string_view target : SplitList(table.At(i, "targets"), ';')) {
      if (ParseArch(target) == arch) return true;
    }
  }
  return false;
}

uint32_t ZstdBranch() {
  const Table& table = Table::Get("driver_features");
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.At(i, "feature") == "zstd_image") {
      return ParseNumber(table.At(i, "driver_branch"));
    }
  }
  return 0;
}

}  // namespace cuproof
