#include "rule/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>

#include "bytes/parallel.h"
#include "container/kept_members.h"
#include "container/kernel_metadata.h"
#include "container/walk.h"
#include "rule/describe_environment.h"
#include "rule/rule.h"
#include "rule/source_rules.h"
#include "rule/wheel_tag.h"

namespace cuproof {
namespace {

bool HasToDoWithCuda(const FileImages& images) {
  return !images.images.empty() || !images.modules.empty() || !images.damage.empty() ||
         images.host.registers_fatbin || NeededRuntimeMajor(images.host) != 0 ||
         images.kind == FileKind::kCoreDump;
}

void Judge(FileReport& file, const Target& target) {
  file.verdicts.clear();
  for (const Gpu& gpu : target.gpus) {
    file.verdicts.push_back(JudgeFile(file.images, gpu, target.driver));
  }
}

bool AnyFails(const FileReport& file) {
  return std::any_of(file.verdicts.begin(), file.verdicts.end(), [](const FileVerdict& verdict) {
    return verdict.outcome == Outcome::kDoesNotRun;
  });
}

// Of a file that runs: its modules that do not, where they are so few that this will be said
// (CP106).
std::vector<uint32_t> FewFailedModules(const FileReport& file) {
  std::vector<uint32_t> modules;
  for (const FileVerdict& verdict : file.verdicts) {
    if (!FewFail(file.images, verdict)) continue;
    modules.insert(modules.end(), verdict.failed.begin(), verdict.failed.end());
  }
  return modules;
}

// Headers make claims. Before a file is said not to run, its images are expanded, and what may hide
// outside of containers is looked for.
void ReadAndJudge(ByteView bytes, const Target& target, bool deep, unsigned threads,
                  FileReport& file) {
  file.images = ListImages(bytes);
  const bool nothing = file.images.images.empty();
  if (deep) {
    ReadDeep(bytes, file.images, threads);
  } else if (!nothing) {
    ReadToolkits(bytes, file.images);
  }
  if (file.images.modules.empty()) return;
  Judge(file, target);
  if (deep) return;
  if (AnyFails(file)) {
    ReadDeep(bytes, file.images, threads);
  } else if (const auto modules = FewFailedModules(file); !modules.empty()) {
    ReadModules(bytes, file.images, modules);
  } else {
    return;
  }
  Judge(file, target);
}

// The only environment among the roots; empty for none or several.
std::string OnlyEnvironment(const std::vector<Root>& roots) {
  std::string only;
  for (const Root& root : roots) {
    if (root.kind != RootKind::kEnvironment) continue;
    if (!only.empty()) return {};
    only = root.argument;
  }
  return only;
}

// The environment of each root: the one that was named, itself, or the only one among the roots;
// empty for none.
std::vector<std::string> EnvironmentsOf(const std::vector<Root>& roots,
                                        const HostOptions& options) {
  const std::string only = OnlyEnvironment(roots);
  std::vector<std::string> environments;
  environments.reserve(roots.size());
  for (const Root& root : roots) {
    if (!options.environment.empty()) {
      environments.push_back(options.environment);
    } else if (root.kind == RootKind::kEnvironment) {
      environments.push_back(root.argument);
    } else {
      environments.push_back(root.kind == RootKind::kProcess ? "" : only);
    }
  }
  return environments;
}

// A member of a wheel that was named, which the host half takes to be installed.
bool IsInstalled(const Unit& unit, const Root& root) {
  return unit.members.size() == 1 && (root.kind == RootKind::kWheel || root.kind == RootKind::kZip);
}

bool IsNamedShared(const std::string& path) {
  const size_t so = path.rfind(".so");
  return so != std::string::npos && path.find('/', so) == std::string::npos;
}

// What it had for a GPU cannot be seen any more: it counts as if the user had named it.
bool IsCutShort(const Unit& unit, const FileImages& images) {
  return images.kind == FileKind::kElf && IsNamedShared(unit.shown) &&
         std::any_of(images.host.damage.begin(), images.host.damage.end(), [](const Error& damage) {
           return damage.phrase.find("cut short") != std::string::npos;
         });
}

// A small zip can expand to many files that each list hundreds of thousands of images. All of CUDA
// 13.0 with cuDNN and NCCL has 75,000 of these parts.
constexpr uint64_t kMaxParts = 4'000'000;

uint64_t PartsOf(const FileImages& images) {
  return images.images.size() + images.modules.size() + images.damage.size() +
         images.host.ranges.size() + images.host.needed.size();
}

class Collector {
 public:
  Collector(const Inventory& inventory, const std::vector<std::string>& environments,
            const Target& target, const CheckOptions& options, KeptMembers* kept = nullptr)
      : inventory_(inventory),
        environments_(environments),
        target_(target),
        options_(options),
        kept_(kept) {
    report_.target = target;
    report_.roots = inventory.roots;
    report_.needed.resize(inventory.roots.size());
    report_.problems = inventory.problems;
    report_.files_seen = inventory.files_seen;
  }

  Report Run() {
    ParallelFor(inventory_.units.size(), options_.threads,
                [&](size_t i) { ReadUnit(inventory_.units[i]); });
    std::sort(report_.files.begin(), report_.files.end(),
              [](const FileReport& a, const FileReport& b) {
                return std::tie(a.root, a.path) < std::tie(b.root, b.path);
              });
    report_.files_not_loaded = not_loaded_;
    TellModules();
    // No line of the report: only what is found is told.
    for (const FileReport& file : hosts_) {
      RunHostRules({file, report_, report_.target}, report_.findings);
    }
    return std::move(report_);
  }

 private:
  void ReadUnit(const Unit& unit) {
    auto opened = OpenUnit(unit);
    if (!opened) {
      Error error = opened.error();
      if (error.file.empty()) error.file = unit.shown;
      const std::lock_guard lock(mutex_);
      report_.problems.push_back(std::move(error));
    } else {
      FileReport file;
      file.root = unit.root;
      file.path = unit.shown;
      ReadAndJudge((*opened)->bytes(), target_, options_.deep, ThreadsInside(), file);
      // Where it is not known what a file is loaded into, the file alone tells something.
      const Root& root = inventory_.roots[unit.root];
      if (options_.host && environments_[unit.root].empty()) {
        const bool elf = file.images.kind == FileKind::kElf;
        if (elf) file.host = FactsAlone((*opened)->bytes(), unit.shown);
        if (!file.host && unit.named) file.host = RefusedAlone((*opened)->bytes(), unit.shown);
        not_loaded_ += elf && root.kind != RootKind::kProcess && IsNamedShared(unit.shown) ? 1 : 0;
      }
      if (!file.images.modules.empty()) file.declared_archs = DeclaredArchs(unit);
      TakeModule(unit, root, file.images);
      const bool again = kept_ != nullptr && file.images.kind == FileKind::kElf &&
                         IsInstalled(unit, root) && !environments_[unit.root].empty();
      Keep(unit, (*opened)->changed(), std::move(file));
      if (again) kept_->Keep(unit, std::move(*opened));
    }
    options_.on_unit_done(unit.size);
  }

  // Modules of wheels, to be held against the names of the wheels.
  void TakeModule(const Unit& unit, const Root& root, const FileImages& images) {
    if (root.kind != RootKind::kWheel || images.kind != FileKind::kElf) return;
    if (unit.members.size() != 1 || !IsModuleName(unit.members.front().name)) return;
    const std::lock_guard lock(mutex_);
    modules_.push_back({unit.root, unit.shown, unit.members.front().name, images.host.machine,
                        images.host.needed});
  }

  void TellModules() {
    if (modules_.empty()) return;
    std::vector<std::string> names;
    for (const Unit& unit : inventory_.units) names.push_back(unit.shown);
    std::sort(modules_.begin(), modules_.end(), [](const WheelModule& a, const WheelModule& b) {
      return std::tie(a.root, a.shown) < std::tie(b.root, b.shown);
    });
    AddTagFindings(inventory_.roots, modules_, names, report_.findings);
  }

  // Few files: the threads that have no file of their own help inside one.
  unsigned ThreadsInside() const {
    const auto files =
        static_cast<unsigned>(std::min<size_t>(inventory_.units.size(), options_.threads));
    return std::max(1u, options_.threads / std::max(1u, files));
  }

  void Keep(const Unit& unit, bool changed, FileReport file) {
    const std::lock_guard lock(mutex_);
    report_.bytes_read += unit.size;
    const uint64_t parts = PartsOf(file.images);
    if (parts > kMaxParts - parts_) {
      report_.problems.push_back(
          {ErrorCode::kTooLarge,
           fmt::format("not reported: {} images, modules and sections, and {} in the files before "
                       "it; the bound is {}",
                       parts, parts_, kMaxParts),
           unit.shown, std::nullopt});
      return;
    }
    parts_ += file.images.host.needed.size();
    report_.needed[file.root].insert(file.images.host.needed.begin(),
                                     file.images.host.needed.end());
    if (changed) {
      report_.problems.push_back({ErrorCode::kNotReadable,
                                  "the file got shorter while it was read: check it again",
                                  unit.shown, std::nullopt});
    }
    // A file that the user named is reported even when it has nothing for a GPU.
    if (HasToDoWithCuda(file.images) || unit.named || IsCutShort(unit, file.images)) {
      parts_ += parts - file.images.host.needed.size();
      report_.files.push_back(std::move(file));
    } else {
      ++report_.files_without_cuda;
      if (file.host) hosts_.push_back(std::move(file));
    }
  }

  const Inventory& inventory_;
  const std::vector<std::string>& environments_;
  const Target& target_;
  const CheckOptions& options_;
  std::mutex mutex_;
  std::atomic<uint64_t> not_loaded_ = 0;
  Report report_;
  KeptMembers* kept_;
  std::vector<WheelModule> modules_;
  std::vector<FileReport> hosts_;  // torch extensions without device code
  uint64_t parts_ = 0;             // of the files in report_, at most kMaxParts
};

// The report of a file that has a line of its own; null for others.
FileReport* FindFile(Report& report, uint32_t root, const std::string& path) {
  const auto at =
      std::partition_point(report.files.begin(), report.files.end(), [&](const FileReport& file) {
        return std::tie(file.root, file.path) < std::tie(root, path);
      });
  return at != report.files.end() && at->root == root && at->path == path ? &*at : nullptr;
}

// "libx_cuda#.so" of "libx_cuda118.so": a package has one for each CUDA, GPU or FFmpeg and tries
// which of them loads.
std::string SetOf(const std::string& path) {
  std::string set;
  for (const char c : path) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) set += c;
    if (digit && (set.empty() || set.back() != '#')) set += '#';
  }
  return set;
}

bool LoadsWhole(const HostLoad& load) {
  return !load.refused && load.symbols.empty() && load.versions.empty() &&
         std::all_of(load.libraries.begin(), load.libraries.end(),
                     [](const HostLibrary& library) { return IsDriverLibrary(library.name); });
}

void MarkVariants(const std::vector<const Unit*>& units,
                  const std::vector<std::shared_ptr<HostLoad>>& loads) {
  std::set<std::string> served;
  for (size_t i = 0; i < units.size(); ++i) {
    if (loads[i] && LoadsWhole(*loads[i])) served.insert(SetOf(units[i]->shown));
  }
  for (size_t i = 0; i < units.size(); ++i) {
    if (loads[i] && !LoadsWhole(*loads[i]))
      loads[i]->variant = served.contains(SetOf(units[i]->shown));
  }
}

// Folders of sys.path that lie elsewhere, as an editable install puts them there.
// Those that are a project were looked into with it.
void AddPathEntries(const HostEnvironment& environment, const std::vector<const Unit*>& units,
                    Report& report) {
  for (const PathEntry& entry : environment.path_entries) {
    const bool named = std::any_of(report.roots.begin(), report.roots.end(), [&](const Root& root) {
      return RealPath(root.argument) == RealPath(entry.folder);
    });
    const bool seen = std::any_of(units.begin(), units.end(), [&](const Unit* unit) {
      return unit->file.starts_with(entry.folder + '/');
    });
    if (named || seen) continue;
    Finding finding;
    finding.id = "CP116";
    finding.file = entry.folder;
    finding.message = fmt::format("also on sys.path, not looked into (from {})", entry.from);
    finding.fix = fmt::format("cuproof check {} {}", environment.folder, entry.folder);
    finding.source = "site(3): path configuration files";
    finding.verified_on = "tests/host_check_test.py";
    report.findings.push_back(std::move(finding));
  }
}

// What the loader would say of each file of one root.
void LoadFiles(const std::vector<const Unit*>& units, uint32_t root, const HostChecker& checker,
               const CheckOptions& options, Report& report) {
  std::vector<std::shared_ptr<HostLoad>> loads(units.size());
  ParallelFor(units.size(), options.threads, [&](size_t i) { loads[i] = checker.Load(*units[i]); });
  MarkVariants(units, loads);
  std::vector<OperatorClaim> claims;
  for (size_t i = 0; i < units.size(); ++i) {
    if (!loads[i]) continue;
    for (const std::string& name : loads[i]->facts.claims) {
      const Package* package = checker.environment().packages.OwnerOf(units[i]->file);
      claims.push_back({name, units[i]->shown, package ? package->name : ""});
    }
    if (FileReport* const known = FindFile(report, root, units[i]->shown)) {
      known->host = loads[i];
      continue;
    }
    // Without device code it is no line of the report; what the loader says of it is told all the
    // same.
    FileReport file;
    file.root = root;
    file.path = units[i]->shown;
    file.host = loads[i];
    RunHostRules({file, report, report.target}, report.findings);
  }
  if (report.roots[root].kind == RootKind::kEnvironment) {
    RunEnvironmentRules({checker.environment(), claims}, report.findings);
    AddPathEntries(checker.environment(), units, report);
  }
}

// What a wheel brings takes the place of what is installed.
void AddVariantOfWheel(const std::vector<const Unit*>& members, const HostEnvironment& environment,
                       Report& report) {
  HostEnvironment installed;
  installed.torch_cuda = environment.torch_cuda;
  for (const Unit* unit : members) {
    const std::string number = BitsAndBytesNumber(unit->members.front().name);
    if (!number.empty()) installed.bitsandbytes.push_back(number);
  }
  std::sort(installed.bitsandbytes.begin(), installed.bitsandbytes.end());
  RuleCudaVariant({installed, {}}, report.findings);
}

// The host half: every root in its environment, each environment prepared once. A wheel has its
// own, in which it is installed.
void LoadRoots(const Inventory& inventory, const std::vector<std::string>& environments,
               const CheckOptions& options, KeptMembers& kept, Report& report) {
  std::map<std::string, std::unique_ptr<const HostChecker>> checkers;
  std::set<std::string> told;  // environments whose own problems were
  for (uint32_t root = 0; root < inventory.roots.size(); ++root) {
    const std::string& environment = environments[root];
    if (environment.empty()) continue;
    std::vector<const Unit*> files;
    std::vector<const Unit*> members;
    for (const Unit& unit : inventory.units) {
      if (unit.root != root) continue;
      if (unit.members.empty()) files.push_back(&unit);
      if (IsInstalled(unit, inventory.roots[root])) members.push_back(&unit);
    }
    const auto prepare = [&](const std::vector<const Unit*>& installed) {
      auto checker = std::make_unique<HostChecker>(environment, options.loader, installed, &kept);
      if (told.insert(environment).second) {
        report.problems.insert(report.problems.end(), checker->problems.begin(),
                               checker->problems.end());
      }
      return checker;
    };
    const RootKind kind = inventory.roots[root].kind;
    if (kind == RootKind::kWheel || kind == RootKind::kZip) {
      const auto checker = prepare(members);
      LoadFiles(members, root, *checker, options, report);
      AddVariantOfWheel(members, checker->environment(), report);
      continue;
    }
    std::unique_ptr<const HostChecker>& checker = checkers[environment];
    if (!checker) checker = prepare({});
    LoadFiles(files, root, *checker, options, report);
  }
}

void AddSkipped(const Inventory& inventory, Report& report) {
  for (const Error& skipped : inventory.skipped) {
    Finding finding;
    finding.id = "CP116";
    finding.file = skipped.file;
    finding.message = "not looked into: " + skipped.phrase;
    report.findings.push_back(std::move(finding));
  }
}

}  // namespace

Report Check(const Inventory& inventory, const Target& target, const CheckOptions& options) {
  const std::vector<std::string> environments = EnvironmentsOf(inventory.roots, options.loader);
  KeptMembers kept;
  Report report =
      Collector(inventory, environments, target, options, options.host ? &kept : nullptr).Run();
  if (options.host) LoadRoots(inventory, environments, options, kept, report);
  if (options.sources) CheckSources(report.roots, report);
  const Siblings siblings(report);
  for (const FileReport& file : report.files) {
    RunRules({file, report, report.target, &siblings}, report.findings);
  }
  AddSkipped(inventory, report);
  std::stable_sort(report.findings.begin(), report.findings.end(),
                   [](const Finding& a, const Finding& b) {
                     // What the rest follows from, first.
                     const auto cause = [](const Finding& one) {
                       return one.id == "CP303" || one.id == "CP309";
                     };
                     return std::tuple(a.severity, cause(a)) > std::tuple(b.severity, cause(b));
                   });
  return report;
}

Report Inspect(const Inventory& inventory, const CheckOptions& options) {
  const Target target;
  const std::vector<std::string> environments = EnvironmentsOf(inventory.roots, options.loader);
  return Collector(inventory, environments, target, options).Run();
}

}  // namespace cuproof
