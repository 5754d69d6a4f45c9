#include "rule/host_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "container/content.h"
#include "link/closure.h"
#include "link/environment.h"
#include "link/loaded_file.h"
#include "link/python_process.h"
#include "link/resolve.h"
#include "rule/describe_environment.h"
#include "rule/host_scope.h"
#include "rule/rule.h"
#include "symbol/nearest.h"
#include "symbol/string_abi.h"

namespace cuproof {
namespace {

namespace fs = std::filesystem;

std::string BaseName(const std::string& path) { return fs::path(path).filename().string(); }

// "libcudart.so" of "libcudart.so.12".
std::string Stem(const std::string& name) {
  const size_t end = name.find(".so");
  return end == std::string::npos ? name : name.substr(0, end + 3);
}

// "cuModuleLoadData", "nvmlInit_v2": what the driver's libraries give.
bool IsDriverFunction(std::string_view name) {
  const auto upper = [&](size_t at) {
    return name.size() > at && name[at] >= 'A' && name[at] <= 'Z';
  };
  return (name.starts_with("cu") && upper(2)) || (name.starts_with("nvml") && upper(4));
}

// "PyLong_Check", "_Py_Dealloc": what an interpreter gives.
bool IsPythonName(std::string_view name) {
  if (name.starts_with("_Py")) return true;
  if (name.size() < 3 || !name.starts_with("Py")) return false;
  return name[2] == '_' || (name[2] >= 'A' && name[2] <= 'Z');
}

bool IsModule(const DynamicObject& object) {
  for (uint32_t i = 0; i < object.symbol_count(); ++i) {
    const Symbol symbol = object.SymbolAt(i);
    if (symbol.exported() && symbol.name.starts_with("PyInit_")) return true;
  }
  return false;
}

// Where a member of a wheel would be installed: "x-1.0.data/purelib/pkg/a.so" is pkg/a.so.
std::string InstalledAs(const std::string& site, const std::string& member) {
  const size_t data = member.find(".data/");
  for (const char* scheme : {".data/purelib/", ".data/platlib/"}) {
    if (const size_t at = member.find(scheme); at != std::string::npos && at == data) {
      return site + '/' + member.substr(at + std::char_traits<char>::length(scheme));
    }
  }
  return site + '/' + member;
}

using Libraries = std::multimap<std::string, std::string>;

// Every library file of the environment by its name: what a search may have missed.
Libraries LibrariesBelow(const std::vector<std::string>& folders) {
  constexpr size_t kMostFiles = 200'000;
  Libraries found;
  size_t seen = 0;
  for (const std::string& folder : folders) {
    std::error_code error;
    fs::recursive_directory_iterator files(folder, fs::directory_options::skip_permission_denied,
                                           error);
    for (; !error && files != fs::recursive_directory_iterator() && ++seen < kMostFiles;
         files.increment(error)) {
      const std::string name = files->path().filename().string();
      if (name.find(".so") != std::string::npos) found.emplace(name, files->path().string());
    }
  }
  return found;
}

// A file of that name in the package of `file`, or in its folder and those below; empty: none.
std::string InPackageOf(const std::string& file, const std::string& name) {
  constexpr size_t kMostFiles = 5'000;
  std::error_code error;
  fs::path top = fs::path(file).parent_path();
  while (top.has_parent_path() && fs::exists(top.parent_path() / "__init__.py", error)) {
    top = top.parent_path();
  }
  if (const fs::path beside = fs::path(file).parent_path() / name;
      fs::is_regular_file(beside, error)) {
    return beside.string();
  }
  size_t seen = 0;
  fs::recursive_directory_iterator files(top, fs::directory_options::skip_permission_denied, error);
  for (; !error && files != fs::recursive_directory_iterator() && ++seen < kMostFiles;
       files.increment(error)) {
    if (files->path().filename() == name && files->is_regular_file(error)) {
      return files->path().string();
    }
  }
  return {};
}

// What torch's libraries in a process export, for the nearest of a name.
struct TorchExports {
  explicit TorchExports(const Process& process) {
    for (const LoadedObject& object : process.objects()) {
      const std::string name = BaseName(object.path);
      if (!name.starts_with("libtorch") && !name.starts_with("libc10")) continue;
      index.Add(object.dynamic(), static_cast<uint32_t>(files.size()));
      files.push_back(object.path);
    }
  }

  ExportIndex index;
  std::vector<std::string> files;
};

// What is asked only once something is missing, and most environments are in order.
class Surroundings {
 public:
  Surroundings(const Environment& environment, const Process& prepared, Libraries installed)
      : environment_(environment), prepared_(prepared), libraries_(std::move(installed)) {}

  const Libraries& libraries() {
    std::call_once(libraries_once_,
                   [this] { libraries_.merge(LibrariesBelow(environment_.site_packages)); });
    return libraries_;
  }
  const TorchExports& exports() {
    std::call_once(exports_once_, [this] { exports_.emplace(prepared_); });
    return *exports_;
  }

 private:
  const Environment& environment_;
  const Process& prepared_;
  std::once_flag libraries_once_;
  std::once_flag exports_once_;
  Libraries libraries_;  // at first those of a wheel that is taken to be installed
  std::optional<TorchExports> exports_;
};

// One load, told in paths and sentences.
class Teller {
 public:
  Teller(const Process& process, Surroundings& surroundings, const Packages& packages,
         bool has_program)
      : process_(process),
        surroundings_(surroundings),
        packages_(packages),
        has_program_(has_program) {}

  HostLoad Tell(const LoadReport& report) const {
    HostLoad load;
    load.refused = report.outcome.error;
    // A damaged file is refused by the loader, or read as nobody can tell. What is past a bound of
    // ours is no damage.
    for (const Error& damage : report.damage) {
      if (load.refused || report.outcome.root == kNoObject) break;
      if (damage.code != ErrorCode::kTooLarge && damage.file == PathOf(report.outcome.root)) {
        load.refused = damage;
      }
    }
    for (const MissingLibrary& missing : report.outcome.missing) {
      load.libraries.push_back(TellLibrary(missing));
    }
    const bool no_driver =
        std::any_of(load.libraries.begin(), load.libraries.end(),
                    [](const HostLibrary& library) { return IsDriverLibrary(library.name); });
    for (const MissingSymbol& missing : report.missing_symbols) {
      if (no_driver && IsDriverFunction(missing.name)) continue;
      if (!has_program_ && IsPythonName(missing.name)) {
        ++load.python_names;
        continue;
      }
      load.symbols.push_back(TellSymbol(missing));
    }
    for (const VersionError& error : report.version_errors) {
      if (!error.fatal()) continue;
      load.versions.push_back({error.file, error.version, PathOf(error.wanted_by),
                               PathOf(error.provider), error.newest});
    }
    for (const uint32_t object : report.outcome.added) AddCopies(object, load);
    // Of what torch has loaded only that which something is missing in.
    std::set<uint32_t> told(report.outcome.added.begin(), report.outcome.added.end());
    for (const MissingSymbol& missing : report.missing_symbols) {
      if (missing.version_file.empty()) continue;
      const uint32_t object = process_.FindLoaded(missing.version_file);
      if (object != kNoObject && told.insert(object).second) AddCopies(object, load);
    }
    return load;
  }

 private:
  std::string PathOf(uint32_t object) const {
    return object == kNoObject ? "" : process_.objects()[object].path;
  }

  // Without its two ends, which the finding names anyway, where there are only these.
  std::string ChainTo(uint32_t object) const {
    if (object == kNoObject) return "";
    const std::vector<uint32_t> chain = process_.ChainOf(object);
    if (chain.size() < 2) return "";
    std::vector<std::string> names;
    names.reserve(chain.size());
    for (const uint32_t link : chain) names.push_back(BaseName(PathOf(link)));
    return fmt::format("{}", fmt::join(names, " -> "));
  }

  HostLibrary TellLibrary(const MissingLibrary& missing) const {
    HostLibrary library;
    library.name = missing.name;
    library.wanted_by = PathOf(missing.wanted_by);
    library.chain = ChainTo(missing.wanted_by);
    for (const Candidate& unfit : missing.unfit) library.unfit.push_back(unfit.path);
    const Libraries& libraries = surroundings_.libraries();
    if (const auto here = libraries.find(missing.name); here != libraries.end()) {
      library.elsewhere = here->second;
    }
    if (const std::string beside = InPackageOf(library.wanted_by, missing.name); !beside.empty()) {
      library.elsewhere = beside;
      const auto folder = fs::path(beside).parent_path().lexically_relative(
          fs::path(library.wanted_by).parent_path());
      library.origin = folder == "." ? "$ORIGIN" : "$ORIGIN/" + folder.string();
    }
    const std::string stem = Stem(missing.name);
    std::set<std::string> others;
    for (auto at = libraries.lower_bound(stem);
         at != libraries.end() && at->first.starts_with(stem); ++at) {
      if (Stem(at->first) == stem && at->first != missing.name) others.insert(at->first);
    }
    library.others.assign(others.begin(), others.end());
    return library;
  }

  HostSymbol TellSymbol(const MissingSymbol& missing) const {
    HostSymbol symbol;
    symbol.name = missing.name;
    symbol.version = missing.version;
    symbol.version_file = missing.version_file;
    symbol.wanted_by = PathOf(missing.wanted_by);
    symbol.chain = ChainTo(missing.wanted_by);
    symbol.elsewhere = PathOf(missing.elsewhere);
    symbol.other_version = missing.other_version;
    symbol.not_linked = missing.reason == MissingReason::kNotInScope &&
                        missing.wanted_by != kNoObject && missing.elsewhere != kNoObject &&
                        !Needs(missing.wanted_by, missing.elsewhere);
    if (missing.reason != MissingReason::kNowhere) return symbol;
    const TorchExports& exports = surroundings_.exports();
    const auto nearest = exports.index.Nearest(missing.name, 1);
    if (nearest.empty()) return symbol;
    symbol.nearest = nearest.front().nearest.Sentence();
    symbol.nearest_file = exports.files[nearest.front().where];
    symbol.string_abi = nearest.front().nearest.difference == NameDifference::kStringAbi;
    // A function that returns a string has the tag under the new ABI, and nothing under the old.
    const StringAbi wanted = StringAbiOf(missing.name);
    symbol.old_string = wanted == StringAbi::kOld ||
                        (wanted != StringAbi::kNew &&
                         StringAbiOf(nearest.front().nearest.mangled) == StringAbi::kNew);
    return symbol;
  }

  bool Needs(uint32_t object, uint32_t library) const {
    const std::vector<uint32_t>& needed = process_.objects()[object].needed;
    return std::find(needed.begin(), needed.end(), library) != needed.end();
  }

  // "12.4.5.8" of libcublas.so.12.4.5.8, which libcublas.so.12 leads to; else its package's.
  std::string ReleaseOf(const std::string& path) const {
    std::error_code error;
    const std::string name = BaseName(fs::canonical(path, error).string());
    const size_t so = name.find(".so.");
    if (so != std::string::npos && name.find('.', so + 4) != std::string::npos) {
      return name.substr(so + 4);
    }
    const Package* package = packages_.OwnerOf(path);
    return package == nullptr ? "" : package->version;
  }

  void AddCopies(uint32_t object, HostLoad& load) const {
    const LoadedObject& winner = process_.objects()[object];
    std::set<std::string> told;
    for (const Candidate& loser : process_.ShadowedBy(object)) {
      if (loser.other_machine || loser.unreadable || !loser.file || !winner.file) continue;
      const bool same =
          loser.file->device == winner.file->device && loser.file->inode == winner.file->inode;
      if (same || !told.insert(loser.path).second) continue;
      load.copies.push_back({winner.requested, winner.path, FoundByName(winner.found_by),
                             loser.path, FoundByName(loser.step.by), ReleaseOf(winner.path),
                             ReleaseOf(loser.path)});
    }
  }

  const Process& process_;
  Surroundings& surroundings_;
  const Packages& packages_;
  const bool has_program_;
};

Environment EnvironmentFor(const std::string& folder, const HostOptions& options) {
  EnvironmentOptions wanted;
  wanted.folder = folder;
  wanted.sysroot = options.sysroot;
  wanted.library_path = options.library_path;
  wanted.use_process_library_path = options.sysroot.empty();
  return FindEnvironment(wanted);
}

}  // namespace

struct HostChecker::Parts {
  Parts(Environment found, const std::vector<const Unit*>& members, KeptMembers* kept)
      : environment(std::move(found)),
        site(environment.site_packages.empty() ? environment.folder
                                               : environment.site_packages.front()),
        prepared((Install(members, kept), PrepareProcess(environment, files))),
        host(std::make_shared<const HostEnvironment>(
            DescribeEnvironment(environment, files, prepared.process, prepared.has_program))) {}

  void Install(const std::vector<const Unit*>& members, KeptMembers* kept) {
    for (const Unit* unit : members) {
      const std::string path = PathOf(*unit);
      files.Install(path, *unit, kept ? kept->Take(*unit) : nullptr);
      installed.emplace(BaseName(path), path);
    }
  }

  // A member is taken to be installed.
  std::string PathOf(const Unit& unit) const {
    if (!unit.members.empty()) return InstalledAs(site, unit.members.front().name);
    const fs::path path(unit.file);
    // A bare name would be searched for, as dlopen does. Beside an environment that is named from
    // the root, files are too: both are compared as texts.
    if (path.is_absolute() ||
        (path.has_parent_path() && !fs::path(environment.folder).is_absolute())) {
      return unit.file;
    }
    std::error_code error;
    const fs::path whole = fs::absolute(path, error);
    return error ? "./" + unit.file : whole.lexically_normal().string();
  }

  // Whether another file of its name comes first in a process that has not loaded this one.
  bool Replaced(const LoadedFile& file) const {
    const std::string soname(file.object->soname);
    if (!IsCudaLibrary(soname)) return false;
    const auto same = [&](const LoadedFile& other) {
      return other.inode == file.inode && other.device == file.device;
    };
    for (const LoadedObject& object : prepared.process.objects()) {
      if (same(*object.file)) return false;
    }
    for (const std::string& folder : environment.library_path) {
      const auto other = files.Open((fs::path(folder) / soname).string());
      if (other->exists && other->object) return !same(*other);
    }
    return false;
  }

  mutable FileCache files;
  Environment environment;
  std::string site;
  Libraries installed;
  PreparedProcess prepared;
  std::shared_ptr<const HostEnvironment> host;
  Surroundings surroundings{environment, prepared.process, installed};
};

HostChecker::HostChecker(const std::string& folder, const HostOptions& options,
                         const std::vector<const Unit*>& members, KeptMembers* kept)
    : parts_(std::make_unique<Parts>(EnvironmentFor(folder, options), members, kept)) {
  problems = parts_->environment.problems;
}

HostChecker::~HostChecker() = default;

const HostEnvironment& HostChecker::environment() const { return *parts_->host; }

std::unique_ptr<HostLoad> HostChecker::Load(const Unit& unit) const {
  const std::string path = parts_->PathOf(unit);
  const auto file = parts_->files.Open(path);
  if (!file->object && unit.named) return RefusedAlone(file->bytes(), unit.shown);
  if (!file->object || !file->object->has_dynamic) return nullptr;
  const DynamicObject& object = *file->object;
  // A program is started, not imported.
  if (object.position_independent_executable || !object.interpreter.empty()) return nullptr;
  if (object.identity.machine != parts_->environment.system.machine) return nullptr;
  Process process = parts_->prepared.process;
  const LoadReport report = TryLoad(parts_->prepared, path, process);
  auto load = std::make_unique<HostLoad>(
      Teller(process, parts_->surroundings, parts_->host->packages, parts_->prepared.has_program)
          .Tell(report));
  for (HostVersion& version : load->versions) {
    if (version.wanted_by == path) version.wanted_by = unit.shown;
  }
  if (!report.loads()) load->replaced = parts_->Replaced(*file);
  if (!report.loads() || load->refused) load->module = IsModule(object);
  load->environment = parts_->host;
  const Package* package = parts_->host->packages.OwnerOf(path);
  // torch and CUDA's own libraries are what others are judged by.
  const bool own =
      (package && (package->name == "torch" || package->name.starts_with("nvidia-"))) ||
      parts_->prepared.process.FindLoaded(path) != kNoObject;
  if (own && load->symbols.empty()) return load;
  load->facts = ReadHostFacts(object, file->bytes(), unit.shown);
  if (package) {
    load->torch_pin = package->torch_pin;
    if (load->facts.label.empty()) load->facts.label = ReadBuildLabel(package->version);
  }
  TellScope(process, parts_->files, report, *load);
  if (!load->claims.empty()) load->module = IsModule(object);
  return load;
}

std::unique_ptr<HostLoad> RefusedAlone(ByteView file, const std::string& shown) {
  constexpr size_t kHeaderSize = 64;
  constexpr std::string_view kMagic =
      "\x7f"
      "ELF";
  const std::string name = BaseName(shown);
  if (name.find(".so") == std::string::npos) return nullptr;
  std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const bool is_elf = text.starts_with(kMagic);
  if (is_elf && file.size() >= kHeaderSize) return nullptr;
  // A container or a cubin by that name is nothing to load, and may be meant so.
  const ByteView head = file.Clamp(0, kHeadSize);
  if (!is_elf && TellContent(head, file.size()) == Content::kProgram) return nullptr;
  auto load = std::make_unique<HostLoad>();
  load->refused = Error{ErrorCode::kUnsupported,
                        file.size() < kHeaderSize ? "file too short" : "invalid ELF header", shown,
                        std::nullopt};
  load->module = true;  // the user wants to load it
  return load;
}

std::unique_ptr<HostLoad> FactsAlone(ByteView file, const std::string& shown) {
  const auto object = DynamicObject::Read(file);
  if (!object || !object->has_dynamic || object->soname.starts_with("libtorch") ||
      object->soname.starts_with("libc10")) {
    return nullptr;
  }
  auto load = std::make_unique<HostLoad>();
  load->facts = ReadHostFacts(*object, file, shown);
  if (!load->facts.wants_torch) return nullptr;
  return load;
}

}  // namespace cuproof
