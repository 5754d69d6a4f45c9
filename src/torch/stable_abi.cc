#include "torch/stable_abi.h"

#include <fmt/format.h>

#include <unordered_map>

#include "target/table.h"
#include "torch/history.h"

namespace cuproof {
namespace {

bool IsShimName(std::string_view name) {
  return name.starts_with("aoti_torch_") || name.starts_with("torch_");
}

// A C++ name of torch's own namespaces, apart from those that an extension brings along itself.
bool IsTorchCxx(std::string_view name) {
  if (!name.starts_with("_Z")) return false;
  if (name.find("N5torch6stable") != std::string_view::npos ||
      name.find("N5torch10headeronly") != std::string_view::npos) {
    return false;
  }
  for (const std::string_view scope :
       {"N3c10", "NK3c10", "N2at", "NK2at", "N6caffe2", "N5torch", "NK5torch"}) {
    const size_t at = name.find(scope);
    // "_ZN2at…" and "_ZTIN3c10…": the scope comes first, after at most a kind of two letters.
    if (at != std::string_view::npos && at <= 4) return true;
  }
  return false;
}

const std::unordered_map<std::string_view, Version>& Shims() {
  static const auto* const shims = [] {
    auto* made = new std::unordered_map<std::string_view, Version>;
    const Table& table = Table::Get("torch_shims");
    for (size_t i = 0; i < table.size(); ++i) {
      made->emplace(table.At(i, "name"), ParseVersion(table.At(i, "first_torch")));
    }
    return made;
  }();
  return *shims;
}

}  // namespace

StableAbi StableAbiOf(std::span<const std::string_view> names) {
  StableAbi abi;
  Version floor;
  bool any = false;
  for (const std::string_view name : names) {
    if (IsTorchCxx(name)) return abi;
    if (!IsShimName(name)) continue;
    const auto shim = Shims().find(name);
    if (shim == Shims().end()) {
      // torch_ is a common start of a name; aoti_torch_ is nobody else's.
      if (name.starts_with("aoti_torch_")) abi.unknown = name;
      continue;
    }
    any = true;
    if (floor < shim->second) {
      floor = shim->second;
      abi.floor_name = name;
    }
  }
  abi.stable = any;
  if (any) abi.floor = VersionText(floor);
  return abi;
}

std::string TorchTarget::Text() const { return fmt::format("{}.{}.{}", major, minor, patch); }

// torch/headeronly/version.h: major << 56 | minor << 48 | patch << 40.
std::optional<TorchTarget> DecodeTorchTarget(uint64_t value) {
  TorchTarget target;
  target.major = static_cast<uint8_t>(value >> 56);
  target.minor = static_cast<uint8_t>(value >> 48);
  target.patch = static_cast<uint8_t>(value >> 40);
  if (target.major < 2 || target.major > 9) return std::nullopt;
  return target;
}

std::string TorchTargetValue(uint8_t major, uint8_t minor) {
  return fmt::format("0x{:02x}{:02x}000000000000", major, minor);
}

std::optional<uint8_t> MeantMinor(const TorchTarget& target) {
  if (target.minor < 0x10 || (target.minor & 0xF) > 9 || (target.minor >> 4) > 9) {
    return std::nullopt;
  }
  return static_cast<uint8_t>((target.minor >> 4) * 10 + (target.minor & 0xF));
}

TorchTarget NewestTorch() {
  TorchTarget newest;
  for (const TorchRelease& release : TorchHistory::Get().releases()) {
    newest.major = release.major;
    newest.minor = release.minor;
  }
  return newest;
}

std::optional<uint64_t> TorchTargetInCode(ByteView text) {
  std::optional<uint64_t> found;
  const std::string_view code = text.Text();
  // movabs: REX.W, B8 to BF, eight bytes of which the low five are 0 in a version.
  constexpr std::string_view kZeros("\0\0\0\0\0", 5);
  for (size_t at = code.find(kZeros); at != std::string_view::npos;
       at = code.find(kZeros, at + 1)) {
    if (at < 2) continue;
    const auto rex = static_cast<uint8_t>(code[at - 2]);
    const auto opcode = static_cast<uint8_t>(code[at - 1]);
    if ((rex != 0x48 && rex != 0x49) || (opcode & 0xF8) != 0xB8) continue;
    const auto value = text.Load<uint64_t>(at);
    if (!value) break;
    const auto target = DecodeTorchTarget(*value);
    if (!target || target->major != 2 || target->minor < 7 || target->minor > 0x50) continue;
    if (found && *found != *value) return std::nullopt;
    found = *value;
  }
  return found;
}

}  // namespace cuproof
