#include "link/kernel_stubs.h"

#include <algorithm>
#include <unordered_set>

#include "link/resolve.h"
#include "symbol/sections.h"

namespace cuproof {
namespace {

constexpr size_t kMaxStubs = 1000;
// Hostile symbols share one long text: as in resolve.cc.
constexpr uint64_t kMaxNameBytes = uint64_t{64} << 20;

enum class Runtime : uint8_t { kNone, kShared, kOwn };

// How an object registers device code: through libcudart.so, or by a runtime that was linked into
// it.
Runtime RuntimeOf(const LoadedObject& object) {
  const Wanted wanted = MakeWanted("__cudaRegisterFatBinary");
  const DynamicObject& dynamic = object.dynamic();
  if (Lookup(dynamic, wanted)) return Runtime::kOwn;
  for (const std::string_view needed : dynamic.needed) {
    if (needed.starts_with("libcudart.so")) return Runtime::kShared;
  }
  // A static runtime that is not exported leaves the section of its containers only.
  return SectionNamed(object.file->bytes(), ".nv_fatbin") ? Runtime::kOwn : Runtime::kNone;
}

// Templates of the standard library are weak everywhere, and no kernels.
bool MayBeKernel(std::string_view name) {
  return name.starts_with("_Z") && !name.starts_with("_ZNSt") && !name.starts_with("_ZNKSt") &&
         !name.starts_with("_ZSt");
}

using Names = std::unordered_set<std::string_view>;

Names Registered(const LoadedObject& object, const Names& asked) {
  Names found;
  ForEachConstant(object.file->bytes(), "_Z", [&](std::string_view text) {
    if (const auto at = asked.find(text); at != asked.end()) found.insert(*at);
  });
  return found;
}

}  // namespace

std::vector<SharedStub> SharedKernelStubs(const Process& process, const LoadOutcome& outcome) {
  std::vector<SharedStub> stubs;
  const auto& objects = process.objects();
  std::vector<Runtime> runtimes(objects.size());
  size_t registering = 0;
  for (const uint32_t index : outcome.scope) {
    runtimes[index] = RuntimeOf(objects[index]);
    registering += runtimes[index] == Runtime::kNone ? 0 : 1;
  }
  if (registering < 2) return stubs;
  for (const uint32_t loser : outcome.added) {
    const DynamicObject& object = objects[loser].dynamic();
    // The first of a scope wins in any case, and a symbolic object is its own first.
    if (runtimes[loser] == Runtime::kNone || object.symbolic || loser == outcome.scope.front()) {
      continue;
    }
    Names names;
    std::vector<SharedStub> lost;
    uint64_t bytes = 0;
    for (const uint32_t index : object.OwnWeakFunctions()) {
      const std::string_view name = object.NameAt(index);
      bytes += name.size();
      if (bytes > kMaxNameBytes) break;
      if (!MayBeKernel(name) || lost.size() == kMaxStubs) continue;
      const uint32_t winner = BindingOf(process, outcome.scope, MakeWanted(name));
      if (winner == kNoObject || winner == loser || runtimes[winner] == Runtime::kNone) continue;
      names.insert(name);
      lost.push_back({std::string(name), winner, loser,
                      (runtimes[winner] == Runtime::kOwn) != (runtimes[loser] == Runtime::kOwn)});
    }
    if (lost.empty()) continue;
    const Names here = Registered(objects[loser], names);
    std::vector<std::pair<uint32_t, Names>> winners;
    for (SharedStub& stub : lost) {
      if (!here.contains(stub.name)) continue;
      auto known = std::find_if(winners.begin(), winners.end(),
                                [&](const auto& entry) { return entry.first == stub.winner; });
      if (known == winners.end()) {
        winners.emplace_back(stub.winner, Registered(objects[stub.winner], names));
        known = winners.end() - 1;
      }
      if (known->second.contains(stub.name) && stubs.size() < kMaxStubs) {
        stubs.push_back(std::move(stub));
      }
    }
  }
  return stubs;
}

}  // namespace cuproof
