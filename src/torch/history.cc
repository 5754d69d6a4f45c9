#include "torch/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "bytes/embedded.h"
#include "bytes/mapped_file.h"

namespace cuproof {
namespace {

constexpr uint64_t kHeader = 16;
constexpr uint64_t kRelease = 8;
constexpr uint64_t kKind = 8;
constexpr uint64_t kBlocks = 256;
constexpr uint64_t kSymbol = 6;  // key and kind
constexpr uint64_t kMaxReleases = 32;

Error Damaged(std::string phrase, uint64_t offset) {
  return {ErrorCode::kBadSize, std::move(phrase), "torch_symbols.bin", offset};
}

StringAbi ReadAbi(uint8_t value) {
  if (value == 1) return StringAbi::kOld;
  if (value == 2) return StringAbi::kNew;
  return StringAbi::kNone;
}

/// Where SetFile keeps the file and the history that looks into it.
struct Replacement {
  std::unique_ptr<MappedFile> file;
  std::optional<TorchHistory> history;
};
Replacement& TheReplacement() {
  static Replacement replacement;
  return replacement;
}

}  // namespace

std::string TorchRelease::Name() const { return fmt::format("{}.{}.{}", major, minor, patch); }

uint64_t TorchFingerprint(std::string_view name) {
  // FNV-1a, then the finaliser of MurmurHash3, because FNV's upper bits differ too little.
  uint64_t value = 0xCBF29CE484222325;
  for (const char c : name) value = (value ^ static_cast<uint8_t>(c)) * 0x100000001B3;
  value = (value ^ (value >> 33)) * 0xFF51AFD7ED558CCD;
  value = (value ^ (value >> 33)) * 0xC4CEB9FE1A85EC53;
  return (value ^ (value >> 33)) >> 24;
}

Result<TorchHistory> TorchHistory::Parse(ByteView bytes) {
  if (!bytes.StartsWith("CPTS") || !bytes.Holds(0, kHeader)) {
    return Damaged("expected a file that starts with CPTS", 0);
  }
  const uint16_t format = *bytes.Load<uint16_t>(4);
  if (format != 1) return Damaged(fmt::format("expected format 1, found {}", format), 4);
  const uint64_t releases = *bytes.Load<uint16_t>(6);
  const uint64_t symbols = *bytes.Load<uint32_t>(8);
  const uint64_t kinds = *bytes.Load<uint16_t>(12);
  if (releases == 0 || releases > kMaxReleases) {
    return Damaged(fmt::format("expected 1 to {} releases, found {}", kMaxReleases, releases), 6);
  }
  const uint64_t kinds_at = kHeader + releases * kRelease;
  const uint64_t index_at = kinds_at + kinds * kKind;
  const uint64_t blocks_at = index_at + (kBlocks + 1) * 4;
  const uint64_t end = blocks_at + symbols * kSymbol;
  if (bytes.size() != end) {
    return Damaged(fmt::format("expected {} bytes, found {}", end, bytes.size()), 8);
  }
  TorchHistory history;
  for (uint64_t i = 0; i < releases; ++i) {
    std::array<uint8_t, 6> field{};
    for (uint64_t j = 0; j < field.size(); ++j) {
      field[j] = *bytes.Load<uint8_t>(kHeader + i * kRelease + j);
    }
    history.releases_.push_back(
        {field[0], field[1], field[2], ReadAbi(field[3]), field[4], field[5]});
  }
  history.symbols_ = symbols;
  history.kinds_ = *bytes.Slice(kinds_at, kinds * kKind);
  history.index_ = *bytes.Slice(index_at, (kBlocks + 1) * 4);
  history.blocks_ = *bytes.Slice(blocks_at, symbols * kSymbol);
  return history;
}

const TorchHistory& TorchHistory::Get() {
  static const TorchHistory kHistory = [] {
    if (TheReplacement().history) return *TheReplacement().history;
    auto history = Parse(ByteView(EmbeddedTorchSymbols()));
    return history ? std::move(*history) : TorchHistory();
  }();
  return kHistory;
}

Result<size_t> TorchHistory::SetFile(const std::string& path) {
  auto file = MappedFile::Open(path);
  if (!file) return file.error();
  auto kept = std::make_unique<MappedFile>(std::move(*file));
  auto history = Parse(kept->bytes());
  if (!history) {
    history.error().file = path;
    return history.error();
  }
  const size_t symbols = history->size();
  TheReplacement() = {std::move(kept), std::move(*history)};
  return symbols;
}

std::optional<TorchSymbol> TorchHistory::Find(std::string_view name) const {
  const uint64_t fingerprint = TorchFingerprint(name);
  const uint64_t block = fingerprint >> 32;
  const auto key = static_cast<uint32_t>(fingerprint);
  const auto first = index_.Load<uint32_t>(block * 4);
  const auto last = index_.Load<uint32_t>((block + 1) * 4);
  if (!first || !last || *first > *last) return std::nullopt;
  const uint64_t count = *last - *first;
  const auto bytes = blocks_.Slice(*first * kSymbol, count * kSymbol);
  if (!bytes) return std::nullopt;
  uint64_t low = 0;
  uint64_t high = count;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (*bytes->Load<uint32_t>(middle * 4) < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == count || *bytes->Load<uint32_t>(low * 4) != key) return std::nullopt;
  const uint64_t kind = *bytes->Load<uint16_t>(count * 4 + low * 2) * kKind;
  const auto releases = kinds_.Load<uint32_t>(kind + 4);
  if (!releases) return std::nullopt;
  return TorchSymbol{ReadAbi(*kinds_.Load<uint8_t>(kind)), *kinds_.Load<uint8_t>(kind + 1),
                     *releases};
}

TorchRange RangeOf(std::span<const std::string_view> names, const TorchHistory& history) {
  TorchRange range;
  for (size_t i = 0; i < history.releases().size(); ++i) {
    const StringAbi own = history.releases()[i].abi;
    const StringAbi other = own == StringAbi::kOld ? StringAbi::kNew : StringAbi::kOld;
    range.builds.push_back({i, own, true, {}});
    range.builds.push_back({i, other, false, {}});
  }
  for (const std::string_view name : names) {
    const auto symbol = history.Find(name);
    if (!symbol) {
      range.unknown.push_back(name);
      continue;
    }
    ++range.known;
    for (TorchFit& build : range.builds) {
      if (build.fits() && !symbol->In(build.release, build.abi)) build.missing = name;
    }
  }
  return range;
}

namespace {

bool Counts(const TorchFit& build, std::optional<StringAbi> abi) {
  return abi ? build.abi == *abi : build.on_index;
}

const TorchFit* Neighbour(const std::vector<TorchFit>& builds, const TorchFit* fit, int step,
                          std::optional<StringAbi> abi) {
  if (fit == nullptr) return nullptr;
  for (auto i = fit - builds.data() + step; i >= 0 && i < std::ssize(builds); i += step) {
    const TorchFit& build = builds[static_cast<size_t>(i)];
    if (Counts(build, abi)) return &build;
  }
  return nullptr;
}

}  // namespace

const TorchFit* TorchRange::First(std::optional<StringAbi> abi) const {
  for (const TorchFit& build : builds) {
    if (build.fits() && Counts(build, abi)) return &build;
  }
  return nullptr;
}

const TorchFit* TorchRange::Last(std::optional<StringAbi> abi) const {
  for (auto build = builds.rbegin(); build != builds.rend(); ++build) {
    if (build->fits() && Counts(*build, abi)) return &*build;
  }
  return nullptr;
}

const TorchFit* TorchRange::Below(std::optional<StringAbi> abi) const {
  return Neighbour(builds, First(abi), -1, abi);
}

const TorchFit* TorchRange::Above(std::optional<StringAbi> abi) const {
  return Neighbour(builds, Last(abi), 1, abi);
}

}  // namespace cuproof
