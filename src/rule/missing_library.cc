#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "rule/rule.h"
#include "target/table.h"

namespace cuproof {
namespace {

// libtorch.so, libtorch_cpu.so, libc10_cuda.so; not libtorchaudio.so, which torchaudio has.
bool IsTorchLibrary(const std::string& name) {
  return name.starts_with("libtorch.so") || name.starts_with("libtorch_") ||
         name.starts_with("libc10");
}

// A module is imported by somebody, though one that needs a library of others may be there for
// those who have it (cupy's for cuTENSOR, torchcodec's for FFmpeg). Another library may be a
// plugin, which is loaded only where what it needs is there; without CUDA or torch it is of no use
// anywhere.
Severity SeverityOf(const HostLoad& load, const HostLibrary& library) {
  // What was imported before may have it.
  if (!library.elsewhere.empty() || load.variant) return Severity::kNote;
  const bool known = IsCudaLibrary(library.name) || IsTorchLibrary(library.name);
  if (load.module) return known ? Severity::kError : Severity::kWarning;
  return known ? Severity::kWarning : Severity::kNote;
}

std::string Fix(const HostLibrary& library) {
  if (!library.origin.empty()) {
    return fmt::format(
        "import the package that has it first, or give the file an RPATH from $ORIGIN: "
        "-Wl,-rpath,'{}'",
        library.origin);
  }
  if (!library.elsewhere.empty()) {
    return fmt::format(
        "import the package that has it first, or give the file an RPATH from $ORIGIN to {}",
        library.elsewhere);
  }
  if (!library.others.empty()) {
    return fmt::format("install the build for {}, or the package that has {}",
                       library.others.back(), library.name);
  }
  if (IsTorchLibrary(library.name)) return "install the torch that it was built for";
  return fmt::format("install the package that has {}", library.name);
}

// Libraries that one answer serves: those of one major of CUDA, or those of one folder that the
// loader does not look into. Empty: none of these.
std::string KindOf(const HostLibrary& library) {
  if (!library.elsewhere.empty()) {
    return fmt::format("{}", library.elsewhere.substr(0, library.elsewhere.rfind('/')));
  }
  const Table& table = Table::Get("sonames");
  std::string kind;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.At(i, "soname") != library.name || table.At(i, "cuda_major") == "any") continue;
    // libcusparse.so.12 is in CUDA 12 and 13.
    if (!kind.empty()) return "CUDA";
    kind = fmt::format("CUDA {}", table.At(i, "cuda_major"));
  }
  return kind;
}

using Group = std::vector<const HostLibrary*>;

// In the order in which the loader meets the first of each.
std::vector<std::pair<std::string, Group>> GroupsOf(const HostLoad& load) {
  constexpr size_t kFewest = 3;
  std::map<std::tuple<std::string, Severity>, Group> kinds;
  for (const HostLibrary& library : load.libraries) {
    if (IsDriverLibrary(library.name)) continue;
    kinds[{KindOf(library), SeverityOf(load, library)}].push_back(&library);
  }
  // What is in two majors belongs to the one that the others are of.
  for (auto& [key, group] : kinds) {
    const auto& [kind, severity] = key;
    if (!kind.starts_with("CUDA ")) continue;
    const auto shared = kinds.find({"CUDA", severity});
    if (shared == kinds.end() || group.size() + shared->second.size() < kFewest) continue;
    group.insert(group.end(), shared->second.begin(), shared->second.end());
    shared->second.clear();
  }
  std::vector<std::pair<std::string, Group>> groups;
  std::set<const HostLibrary*> told;
  for (const HostLibrary& library : load.libraries) {
    if (IsDriverLibrary(library.name) || told.contains(&library)) continue;
    std::pair<std::string, Group> group = {"", {&library}};
    for (const auto& [key, members] : kinds) {
      const bool member = std::find(members.begin(), members.end(), &library) != members.end();
      const std::string& kind = std::get<0>(key);
      if (member && members.size() >= kFewest && !kind.empty() && kind != "CUDA") {
        group = {kind, members};
      }
    }
    told.insert(group.second.begin(), group.second.end());
    groups.push_back(std::move(group));
  }
  return groups;
}

void AddPlaces(const HostLibrary& library, Finding& finding) {
  if (!library.elsewhere.empty()) finding.evidence.push_back("there is " + library.elsewhere);
  if (!library.chain.empty()) finding.evidence.push_back("through " + library.chain);
  for (const std::string& other : library.others) finding.evidence.push_back("there is " + other);
  for (const std::string& unfit : library.unfit) {
    finding.evidence.push_back("for another machine: " + unfit);
  }
}

std::string Message(const std::string& kind, const Group& group) {
  const HostLibrary& first = *group.front();
  const std::string_view why = first.elsewhere.empty() ? "not in this environment" : "";
  if (group.size() == 1) {
    return why.empty()
               ? fmt::format("needs {}, which the loader does not find by itself", first.name)
               : fmt::format("needs {}, which is {}", first.name, why);
  }
  if (!why.empty())
    return fmt::format("needs {} libraries of {} that are {}", group.size(), kind, why);
  return fmt::format("needs {} libraries of {} that the loader does not find by itself",
                     group.size(), kind);
}

// "nvidia-cublas-cu12 nvidia-cusparse-cu12": of the major that the group is of.
std::string PackagesOf(const std::string& kind, const Group& group) {
  const Table& table = Table::Get("sonames");
  std::set<std::string_view> packages;
  for (const HostLibrary* library : group) {
    for (size_t i = 0; i < table.size(); ++i) {
      if (table.At(i, "soname") != library->name) continue;
      if (kind == fmt::format("CUDA {}", table.At(i, "cuda_major"))) {
        packages.insert(table.At(i, "package"));
      }
    }
  }
  return fmt::format("{}", fmt::join(packages, " "));
}

std::string FixOf(const std::string& kind, const Group& group) {
  const HostLibrary& first = *group.front();
  if (group.size() == 1 || !first.elsewhere.empty()) return Fix(first);
  const auto other = std::find_if(group.begin(), group.end(),
                                  [](const HostLibrary* one) { return !one->others.empty(); });
  if (other != group.end()) {
    return fmt::format("install the build for {}, or pip install {}", (*other)->others.back(),
                       PackagesOf(kind, group));
  }
  return "pip install " + PackagesOf(kind, group);
}

}  // namespace

void RuleMissingLibrary(const FileContext& context, std::vector<Finding>& findings) {
  const HostLoad& load = *context.file.host;
  // A machine without a GPU has no driver; a wheel that needs one is in order.
  for (const auto& [kind, group] : GroupsOf(load)) {
    const HostLibrary& first = *group.front();
    Finding finding = NewFinding(context, "CP301", SeverityOf(load, first));
    finding.subject = first.name;
    finding.message = Message(kind, group);
    if (group.size() > 1) {
      std::vector<std::string_view> names;
      for (const HostLibrary* library : group) names.push_back(library->name);
      finding.evidence.push_back(fmt::format("missing: {}", fmt::join(names, ", ")));
    }
    for (const HostLibrary* library : group) AddPlaces(*library, finding);
    finding.evidence.push_back(fmt::format(
        "at import: {}: cannot open shared object file: No such file or directory", first.name));
    finding.fix = FixOf(kind, group);
    finding.source = "ld.so(8): search order";
    finding.verified_on = "glibc 2.36, tools/loader_oracle";
    findings.push_back(std::move(finding));
  }
}

}  // namespace cuproof
