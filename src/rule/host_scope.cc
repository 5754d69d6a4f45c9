#include "rule/host_scope.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "link/kernel_stubs.h"
#include "link/search.h"
#include "link/text_file.h"
#include "link/unused_needs.h"
#include "rule/rule.h"
#include "symbol/operator_claims.h"
#include "target/table.h"

namespace cuproof {
namespace {

std::string Stem(const std::string& name) { return name.substr(0, name.find(".so")); }

void TellStubs(const Process& process, const LoadReport& report, HostLoad& load) {
  for (SharedStub& stub : SharedKernelStubs(process, report.outcome)) {
    const std::string& winner = process.objects()[stub.winner].path;
    const std::string& loser = process.objects()[stub.loser].path;
    const auto known = std::find_if(load.stubs.begin(), load.stubs.end(), [&](const HostStub& one) {
      return one.winner == winner && one.loser == loser;
    });
    if (known != load.stubs.end()) {
      ++known->others;
    } else {
      load.stubs.push_back({std::move(stub.name), winner, loser, 0, stub.two_runtimes});
    }
  }
}

// 13 of libcudart.so.13.
uint16_t RuntimeMajor(std::string_view soname) {
  constexpr std::string_view kStart = "libcudart.so.";
  uint16_t major = 0;
  if (soname.starts_with(kStart)) {
    std::from_chars(soname.data() + kStart.size(), soname.data() + soname.size(), major);
  }
  return major;
}

// A version would tell the forms apart: libcudart's symbols have its SONAME for one. A reference
// without, of a file that was linked without libcudart, takes what is there.
void TellEntryPoints(const Process& process, const LoadReport& report, HostLoad& load) {
  const Table& table = Table::Get("cuda_changes");
  std::set<std::string_view> changed;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.At(i, "kind") == "function" && table.At(i, "change") != "removed") {
      changed.insert(table.At(i, "name"));
    }
  }
  const DynamicObject& object = process.objects()[report.outcome.root].dynamic();
  uint64_t bytes = 0;
  for (const SymbolReference& reference : object.References()) {
    const Symbol symbol = object.SymbolAt(reference.symbol);
    bytes += symbol.name.size();
    if (bytes > (uint64_t{64} << 20)) break;  // as in link/resolve.cc
    if (!changed.contains(symbol.name)) continue;
    const Wanted wanted = MakeWanted(object, symbol);
    if (!wanted.version.empty()) continue;
    const uint32_t provider = BindingOf(process, report.outcome.scope, wanted);
    if (provider == kNoObject) continue;
    const LoadedObject& found = process.objects()[provider];
    const uint16_t major = RuntimeMajor(found.dynamic().soname);
    if (major != 0) load.entry_points.push_back({std::string(symbol.name), found.path, major});
  }
}

// Who registers operators is linked with torch.
bool NeedsTorch(const DynamicObject& object) {
  return std::any_of(object.needed.begin(), object.needed.end(), [](std::string_view name) {
    return name.starts_with("libtorch") || name.starts_with("libc10");
  });
}

void TellClaims(const Process& process, const LoadReport& report, HostLoad& load) {
  std::map<std::string, std::string> by_name;  // who claims it first; empty: the root
  for (const std::string& claim : load.facts.claims) by_name.emplace(claim, "");
  for (const uint32_t index : report.outcome.added) {
    if (index == report.outcome.root) continue;
    const LoadedObject& other = process.objects()[index];
    if (other.file->bytes().size() > (uint64_t{64} << 20)) continue;
    // Local names of each library of each file take long to read for nothing.
    if (load.facts.claims.empty() && !NeedsTorch(other.dynamic())) continue;
    for (const std::string& claim : OperatorClaims(other.file->bytes())) {
      const auto [known, added] = by_name.emplace(claim, other.path);
      if (!added) load.claims.push_back({claim, other.path, known->second});
    }
  }
}

// Of the names that it holds to open libraries by: those of which no release would be found.
void TellOpened(const Process& process, FileCache& files, const LoadReport& report,
                HostLoad& load) {
  std::map<std::string, std::vector<std::string>> missing;
  std::set<std::string> served;
  const LoadedObject& root = process.objects()[report.outcome.root];
  std::vector<Requester> chain = {{&root.dynamic(), root.path}};
  chain.push_back({&process.objects()[0].dynamic(), process.objects()[0].path});
  const Searcher searcher(process.environment(), files);
  for (const std::string& name : load.facts.opened) {
    if (!IsCudaLibrary(name)) continue;
    const bool there =
        process.FindLoaded(name) != kNoObject || searcher.Find(name, chain).winner.has_value() ||
        std::any_of(process.environment().nvidia_folders.begin(),
                    process.environment().nvidia_folders.end(), [&](const std::string& folder) {
                      return files.Open(JoinPath(folder, name))->exists;
                    });
    if (there) {
      served.insert(Stem(name));
    } else {
      missing[Stem(name)].push_back(name);
    }
  }
  for (auto& [stem, names] : missing) {
    if (served.contains(stem)) continue;
    load.not_there.insert(load.not_there.end(), names.begin(), names.end());
  }
}

}  // namespace

void TellScope(const Process& process, FileCache& files, const LoadReport& report, HostLoad& load) {
  if (report.outcome.root == kNoObject) return;
  TellStubs(process, report, load);
  TellEntryPoints(process, report, load);
  TellClaims(process, report, load);
  TellOpened(process, files, report, load);
  // A name that nobody has may be one that another release of an idle library would give.
  if (load.symbols.empty() && load.versions.empty()) {
    load.unused = UnusedNeeds(process, report.outcome);
  }
  const uint32_t driver = process.FindLoaded("libcuda.so.1");
  if (driver != kNoObject && driver != report.outcome.root &&
      process.objects()[driver].path.find("/stubs/") != std::string::npos) {
    load.driver_stub = process.objects()[driver].path;
  }
}

}  // namespace cuproof
