#include "link/unused_needs.h"

#include <algorithm>
#include <set>

#include "link/resolve.h"

namespace cuproof {
namespace {

// Hostile symbols share one long text: as in resolve.cc.
constexpr uint64_t kMaxNameBytes = uint64_t{64} << 20;
constexpr size_t kMaxNeeds = 256;  // each is asked for each name: hostile files have more

bool StartsWithAny(std::string_view name, const std::vector<std::string_view>& stems) {
  return std::any_of(stems.begin(), stems.end(),
                     [&](std::string_view stem) { return name.starts_with(stem); });
}

// Compilers and build systems name these whether they are used or not, and torch's register by
// being loaded.
bool IsLeftOut(std::string_view name) {
  static const std::vector<std::string_view> stems = {
      "ld-linux",   "libc.so",      "libm.so",     "libdl.so",  "libpthread.so", "librt.so",
      "libutil.so", "libresolv.so", "libgcc_s",    "libstdc++", "libatomic",     "libgomp",
      "libomp",     "libiomp",      "libgfortran", "libasan",   "libubsan",      "libtsan",
      "libtorch",   "libc10",       "libshm.so",   "libpython", "libquadmath",   "libmvec"};
  return StartsWithAny(name, stems);
}

bool IsOfTheDriver(std::string_view name) {
  return name.starts_with("libcuda.so") || name.starts_with("libnvidia-ml.so");
}

bool IsOfCuda(std::string_view name) {
  static const std::vector<std::string_view> stems = {
      "libcublas", "libcudart",     "libcudnn",  "libcufft",     "libcufile",  "libcupti",
      "libcurand", "libcusol",      "libcuspar", "libnvJitLink", "libnvblas",  "libnvjpeg",
      "libnvrtc",  "libnvToolsExt", "libnccl",   "libnpp",       "libnvshmem", "libcutensor"};
  return StartsWithAny(name, stems);
}

struct Need {
  std::string_view name;
  uint32_t object = kNoObject;
  bool used = false;
};

// Of a driver that is not here: by what its functions are called.
bool MayBeOfDriver(std::string_view library, std::string_view name) {
  const std::string_view prefix = library.starts_with("libcuda") ? "cu" : "nvml";
  return name.starts_with(prefix);
}

std::vector<Need> CandidatesOf(const Process& process, const LoadedObject& root) {
  std::vector<Need> needs;
  const std::vector<std::string_view>& names = root.dynamic().needed;
  for (size_t i = 0; i < names.size() && i < root.needed.size() && i < kMaxNeeds; ++i) {
    const uint32_t object = root.needed[i];
    if (IsLeftOut(names[i])) continue;
    if (object == kNoObject) {
      if (IsOfTheDriver(names[i])) needs.push_back({names[i]});
      continue;
    }
    const DynamicObject& dynamic = process.objects()[object].dynamic();
    const bool silent = IsOfCuda(names[i]) || IsOfTheDriver(names[i]) || !dynamic.constructors;
    if (silent && !dynamic.exports_unknown()) needs.push_back({names[i], object});
  }
  return needs;
}

std::set<uint32_t> ClosureOf(const Process& process, uint32_t top) {
  std::set<uint32_t> seen = {top};
  std::vector<uint32_t> queue = {top};
  while (!queue.empty()) {
    const uint32_t object = queue.back();
    queue.pop_back();
    for (const uint32_t need : process.objects()[object].needed) {
      if (need != kNoObject && seen.insert(need).second) queue.push_back(need);
    }
  }
  return seen;
}

// One that brings along what another name of the root is in serves as well: an empty libx.so that
// needs libx_cpu.so.
void MarkByWhatTheyBring(const Process& process, const std::set<uint32_t>& given,
                         std::vector<Need>& needs) {
  for (Need& need : needs) {
    if (need.used || need.object == kNoObject) continue;
    const std::set<uint32_t> closure = ClosureOf(process, need.object);
    need.used = std::any_of(given.begin(), given.end(),
                            [&](uint32_t object) { return closure.contains(object); });
  }
}

}  // namespace

std::vector<std::string> UnusedNeeds(const Process& process, const LoadOutcome& outcome) {
  if (outcome.root == kNoObject || outcome.error) return {};
  const LoadedObject& root = process.objects()[outcome.root];
  std::vector<Need> needs = CandidatesOf(process, root);
  if (needs.empty() || !root.dynamic().damage.empty()) return {};
  const auto is_direct = [&](uint32_t object) {
    return std::find(root.needed.begin(), root.needed.end(), object) != root.needed.end();
  };
  std::set<uint32_t> given;  // objects that no DT_NEEDED of the root names, and its names are in
  uint64_t bytes = 0;
  for (const SymbolReference& reference : root.dynamic().References()) {
    const Symbol symbol = root.dynamic().SymbolAt(reference.symbol);
    bytes += symbol.name.size();
    if (bytes > kMaxNameBytes) return {};
    const Wanted wanted = MakeWanted(root.dynamic(), symbol);
    for (Need& need : needs) {
      if (need.used) continue;
      need.used =
          need.object == kNoObject
              ? MayBeOfDriver(need.name, symbol.name)
              : LookupAnyVersion(process.objects()[need.object].dynamic(), wanted).has_value();
    }
    const uint32_t provider = BindingOf(process, outcome.scope, wanted);
    if (provider != kNoObject && !is_direct(provider)) given.insert(provider);
  }
  MarkByWhatTheyBring(process, given, needs);
  std::vector<std::string> unused;
  for (const Need& need : needs) {
    if (!need.used) unused.emplace_back(need.name);
  }
  return unused;
}

}  // namespace cuproof
