#include "rule/host_facts.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rule/rule.h"
#include "symbol/operator_claims.h"
#include "symbol/sections.h"
#include "target/libc_levels.h"
#include "target/table.h"
#include "torch/history.h"
#include "torch/stable_abi.h"

namespace cuproof {
namespace {

// What a reader of texts and local names looks through; CUDA's own libraries are larger, and are
// nobody's extension.
constexpr uint64_t kMostSearched = uint64_t{64} << 20;

// Hostile symbols share one long text: as in link/resolve.cc.
constexpr uint64_t kMostNames = uint64_t{64} << 20;

using Names = std::vector<std::string_view>;

Names WantedNames(const DynamicObject& object) {
  Names names;
  uint64_t bytes = 0;
  for (const SymbolReference& reference : object.References()) {
    names.push_back(object.NameAt(reference.symbol));
    bytes += names.back().size();
    if (bytes > kMostNames) break;
  }
  return names;
}

std::string BuildName(const TorchFit& fit) {
  const std::string name = TorchHistory::Get().releases()[fit.release].Name();
  return fit.on_index ? name : name + (fit.abi == StringAbi::kOld ? " (old ABI)" : " (new ABI)");
}

// Which releases of torch export all that the file wants of torch, and what bounds them.
void TakeTorchRange(const Names& names, HostFacts& facts) {
  const TorchRange range = RangeOf(names);
  if (range.known == 0) return;
  facts.wants_torch = true;
  for (const TorchFit& fit : range.builds) {
    if (!fit.fits()) continue;
    const TorchRelease& release = TorchHistory::Get().releases()[fit.release];
    std::string minor = fmt::format("{}.{}", release.major, release.minor);
    if (facts.torch_minors.empty() || facts.torch_minors.back() != minor) {
      facts.torch_minors.push_back(std::move(minor));
    }
  }
  const TorchFit* first = range.First();
  const TorchFit* last = range.Last();
  if (first == nullptr || last == nullptr) {
    facts.torch_range = "no torch of the Python index";
    return;
  }
  const std::string from = BuildName(*first);
  const std::string to = BuildName(*last);
  facts.torch_range = from == to ? "torch " + from : fmt::format("torch {} to {}", from, to);
  for (const TorchFit* beyond : {range.Below(), range.Above()}) {
    if (beyond == nullptr) continue;
    facts.bounds.push_back(fmt::format("torch {} has no {}", BuildName(*beyond), beyond->missing));
  }
}

// By the names that torch has under one ABI only. Both kinds in one file: it tells nothing.
void TakeStringAbi(const Names& names, HostFacts& facts) {
  const TorchHistory& history = TorchHistory::Get();
  for (const std::string_view name : names) {
    const StringAbi abi = StringAbiOf(name);
    if (abi != StringAbi::kOld && abi != StringAbi::kNew) continue;
    if (!history.Find(name)) continue;
    if (facts.string_abi != StringAbi::kNone && facts.string_abi != abi) {
      facts.string_abi = StringAbi::kMixed;
      return;
    }
    facts.string_abi = abi;
    if (facts.string_abi_name.empty()) facts.string_abi_name = name;
  }
}

// "3c1010TensorImpl" of "c10::TensorImpl", as it stands within a mangled name.
std::string MangledScope(std::string_view type) {
  std::string mangled;
  while (!type.empty()) {
    const size_t end = std::min(type.find("::"), type.size());
    mangled += fmt::format("{}{}", end, type.substr(0, end));
    type.remove_prefix(std::min(end + 2, type.size()));
  }
  return mangled;
}

void TakeTorchTypes(const Names& names, HostFacts& facts) {
  const Table& table = Table::Get("torch_layouts");
  for (size_t i = 0; i < table.size(); ++i) {
    const std::string type(table.At(i, "type"));
    if (!facts.torch_types.empty() && facts.torch_types.back() == type) continue;
    const std::string mangled = MangledScope(type);
    const bool named = std::any_of(names.begin(), names.end(), [&](std::string_view name) {
      const size_t at = name.find(mangled);
      // Another letter behind it makes another identifier only with another length before it.
      return at != std::string_view::npos && at > 0 && name.starts_with("_Z");
    });
    if (named) facts.torch_types.push_back(type);
  }
}

void TakeStable(const Names& names, const DynamicObject& object, ByteView file, HostFacts& facts) {
  const StableAbi abi = StableAbiOf(names);
  facts.stable = abi.stable;
  if (!abi.stable) return;
  facts.stable_floor = abi.floor;
  facts.stable_floor_name = abi.floor_name;
  if (object.identity.machine != EM_X86_64 || file.size() > kMostSearched) return;
  if (const auto code = SectionNamed(file, ".text")) {
    facts.stable_target = TorchTargetInCode(*code).value_or(0);
  }
}

bool IsOfTheSystem(std::string_view folder) {
  return (std::string(folder) + '/').starts_with("/lib/") || folder.starts_with("/lib64") ||
         folder.starts_with("/usr/lib");
}

void TakeAbsoluteFolder(std::string_view folder, HostFacts& facts) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
  std::vector<std::string>& known = facts.absolute_folders;
  if (!folder.starts_with('/') || IsOfTheSystem(folder)) return;
  if (std::find(known.begin(), known.end(), folder) == known.end()) known.emplace_back(folder);
}

void TakeFolders(std::string_view path, HostFacts& facts) {
  while (!path.empty()) {
    const size_t end = std::min(path.find(':'), path.size());
    const std::string_view folder = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (folder.ends_with("/stubs") || folder.ends_with("/stubs/")) {
      facts.stub_folders.emplace_back(folder);
    } else {
      TakeAbsoluteFolder(folder, facts);
    }
  }
}

void TakeOpened(ByteView file, HostFacts& facts) {
  std::set<std::string> opened;
  ForEachConstant(file, "lib", [&](std::string_view text) {
    const size_t so = text.find(".so");
    if (so == std::string_view::npos || text.size() > 64) return;
    if (text.find_first_of("/% ") != std::string_view::npos) return;
    if (IsCudaLibrary(text) || text == "libcuda.so" || text == "libcuda.so.1") opened.emplace(text);
  });
  facts.opened.assign(opened.begin(), opened.end());
}

}  // namespace

HostFacts ReadHostFacts(const DynamicObject& object, ByteView file, const std::string& path) {
  HostFacts facts;
  facts.label = LabelOfPath(path);
  const Names names = WantedNames(object);
  TakeTorchRange(names, facts);
  if (facts.wants_torch) {
    TakeStringAbi(names, facts);
    TakeTorchTypes(names, facts);
  }
  TakeStable(names, object, file, facts);
  for (const std::string_view needed : object.needed) {
    if (IsCudaLibrary(needed)) facts.cuda_libraries.emplace_back(needed);
  }
  for (const VersionNeed& need : object.needs) {
    if (need.weak || !need.name.starts_with("GLIBC_")) continue;
    const std::string_view version = need.name.substr(6);
    if (IsNumberedVersion(version) && VersionBefore(facts.glibc, version)) facts.glibc = version;
  }
  if (object.rpath && !object.runpath) TakeFolders(*object.rpath, facts);
  if (object.runpath) TakeFolders(*object.runpath, facts);
  if (file.size() <= kMostSearched) {
    if (facts.wants_torch || facts.stable) facts.claims = OperatorClaims(file);
    TakeOpened(file, facts);
  }
  return facts;
}

}  // namespace cuproof
