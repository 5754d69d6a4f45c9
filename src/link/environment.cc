#include "link/environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "bytes/mapped_file.h"
#include "container/walk.h"
#include "link/system_libraries.h"
#include "link/text_file.h"
#include "link/torch_install.h"
#include "symbol/dynamic_object.h"

namespace cuproof {
namespace {

constexpr size_t kMaxSitePackages = 64;

std::string Parent(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "" : path.substr(0, slash);
}

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool IsPackageFolder(const std::string& folder) {
  const std::string name = NameOf(folder);
  if (name == "site-packages" || name == "dist-packages") return true;
  if (IsFolder(folder + "/torch") || IsFolder(folder + "/nvidia")) return true;
  const auto names = ListFolder(folder, 2000);
  return std::any_of(names.begin(), names.end(), [](const std::string& entry) {
    return entry.size() > 10 && entry.substr(entry.size() - 10) == ".dist-info";
  });
}

class Finder {
 public:
  Finder(const EnvironmentOptions& options, Environment& environment)
      : options_(options), environment_(environment) {
    sysroot_ = options.sysroot;
    while (!sysroot_.empty() && sysroot_.back() == '/') sysroot_.pop_back();
  }

  void Find() {
    std::string folder = options_.folder;
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    environment_.folder = folder;
    if (!IsFolder(folder)) {
      Problem(ErrorCode::kNotFound, "no such folder, so no environment");
      return;
    }
    if (IsFile(folder + "/pyvenv.cfg")) {
      environment_.kind = EnvironmentKind::kVenv;
      TakeVenv(folder);
    } else if (IsFolder(folder + "/conda-meta")) {
      environment_.kind = EnvironmentKind::kConda;
      TakePrefix(folder);
    } else if (IsFolder(folder + "/lib") && !FindPython(folder).empty()) {
      environment_.kind = EnvironmentKind::kSystem;
      TakePrefix(folder);
    } else if (IsPackageFolder(folder)) {
      environment_.kind = EnvironmentKind::kSitePackages;
      TakePackageFolder(folder);
    } else {
      Problem(ErrorCode::kUnsupported,
              "expected a virtual environment, a conda environment, a site-packages folder or a "
              "prefix with bin/python3");
    }
  }

 private:
  void Problem(ErrorCode code, std::string phrase) {
    environment_.problems.push_back({code, std::move(phrase), environment_.folder, std::nullopt});
  }

  // bin/python3 with its links resolved: the kernel's view, from which $ORIGIN is made.
  std::string FindPython(const std::string& prefix) {
    for (const char* name : {"python3", "python"}) {
      const std::string path = prefix + "/bin/" + name;
      std::string real = RealPath(path);
      if (!sysroot_.empty() && path.compare(0, sysroot_.size() + 1, sysroot_ + "/") == 0) {
        real = InSysroot(sysroot_, path.substr(sysroot_.size()));
      }
      if (!real.empty() && IsFile(real)) return real;
      std::array<char, 4096> target;
      const ssize_t length = readlink(path.c_str(), target.data(), target.size());
      if (length > 0 && dangling_.empty()) {
        dangling_ = fmt::format("bin/{} leads to {}, which is not there", name,
                                std::string_view(target.data(), static_cast<size_t>(length)));
      }
    }
    return {};
  }

  void TakePython(const std::string& prefix) {
    if (environment_.python.empty()) environment_.python = FindPython(prefix);
  }

  void AddSitePackages(const std::string& folder) {
    auto& known = environment_.site_packages;
    if (!IsFolder(folder) || known.size() >= kMaxSitePackages) return;
    const std::string real = RealPath(folder);
    for (const std::string& other : known) {
      if (RealPath(other) == real) return;  // lib64 is a link to lib in a venv
    }
    known.push_back(folder);
  }

  // A line of a .pth file that names a folder is put into sys.path; other lines are code.
  void TakePathFiles() {
    const std::vector<std::string> folders = environment_.site_packages;
    for (const std::string& folder : folders) {
      for (const std::string& name : ListFolder(folder)) {
        if (name.size() < 5 || name.substr(name.size() - 4) != ".pth") continue;
        const std::string text = ReadSmallFile(JoinPath(folder, name), 1 << 16);
        std::string_view rest = text;
        while (!rest.empty()) {
          const size_t end = std::min(rest.find('\n'), rest.size());
          const std::string line(Trimmed(rest.substr(0, end)));
          rest.remove_prefix(std::min(end + 1, rest.size()));
          if (line.empty() || line[0] == '#' || line.substr(0, 6) == "import") continue;
          const std::string entry =
              line[0] == '/' ? InSysroot(sysroot_, line) : JoinPath(folder, line);
          AddSitePackages(entry);
          AddPathEntry(entry, name);
        }
      }
      TakeFinders(folder);
    }
  }

  void AddPathEntry(const std::string& folder, const std::string& from) {
    auto& known = environment_.path_entries;
    const std::string real = RealPath(folder);
    if (real.empty() || !IsFolder(real) || known.size() >= kMaxSitePackages) return;
    if ((real + '/').starts_with(RealPath(environment_.folder) + '/')) return;
    for (const PathEntry& other : known) {
      if (other.folder == real) return;
    }
    known.push_back({real, from});
  }

  // setuptools' finder of an editable install: MAPPING: dict[str, str] = {'pkg': '/src/pkg'}
  void TakeFinders(const std::string& folder) {
    for (const std::string& name : ListFolder(folder)) {
      if (!name.starts_with("__editable__") || !name.ends_with("_finder.py")) continue;
      const std::string text = ReadSmallFile(JoinPath(folder, name), 1 << 20);
      const size_t mapping = text.find("\nMAPPING");
      if (mapping == std::string::npos) continue;
      const std::string line = text.substr(mapping + 1, text.find('\n', mapping + 1) - mapping - 1);
      for (size_t at = line.find(": '/"); at != std::string::npos; at = line.find(": '/", at + 1)) {
        const size_t end = line.find('\'', at + 3);
        if (end == std::string::npos) break;
        AddPathEntry(InSysroot(sysroot_, line.substr(at + 3, end - at - 3)), name);
      }
    }
  }

  // lib/python3.11/site-packages and what distributions make of it.
  void AddLibraryFolders(const std::string& prefix) {
    for (const std::string& lib : {prefix + "/lib", prefix + "/lib64", prefix + "/local/lib"}) {
      for (const std::string& name : ListFolder(lib)) {
        if (name.substr(0, 6) != "python" || name.find_first_of("0123456789") != 6) continue;
        const bool wanted = environment_.python_version.empty() ||
                            name == "python" + environment_.python_version || name == "python3";
        const std::string folder = JoinPath(lib, name);
        if (!wanted || !IsFolder(folder)) continue;
        if (environment_.python_version.empty() && name.find('.') != std::string::npos) {
          environment_.python_version = name.substr(6);
        }
        AddSitePackages(folder + "/site-packages");
        AddSitePackages(folder + "/dist-packages");
      }
    }
  }

  // "3.11" of python3.11, before folders of other versions in the prefix are taken for its.
  void TakeVersionFromPython() {
    const std::string name = NameOf(environment_.python);
    if (name.substr(0, 6) == "python" && name.find('.') != std::string::npos) {
      environment_.python_version = name.substr(6);
    }
  }

  void TakePrefix(const std::string& prefix) {
    TakePython(prefix);
    TakeVersionFromPython();
    AddLibraryFolders(prefix);
  }

  void TakeVenv(const std::string& folder) {
    TakePrefix(folder);
    const std::string config = ReadSmallFile(folder + "/pyvenv.cfg", 1 << 16);
    const std::string home = ValueOf(config, "home");
    const std::string base = InSysroot(sysroot_, Parent(home));
    if (environment_.python.empty() && !base.empty()) TakePython(base);
    if (ValueOf(config, "include-system-site-packages") == "true" && !base.empty()) {
      AddLibraryFolders(base);
    }
  }

  // …/lib/python3.11/site-packages lies in a prefix whose Python it belongs to.
  void TakePackageFolder(const std::string& folder) {
    AddSitePackages(folder);
    const std::string parent = Parent(folder);
    const std::string name = NameOf(parent);
    if (name.substr(0, 6) != "python") return;
    environment_.python_version = name.substr(6);
    const std::string prefix = Parent(Parent(parent));
    TakePython(prefix.empty() ? "/usr" : prefix);
    AddLibraryFolders(prefix);
  }

 public:
  void TakePackages() {
    if (environment_.python.empty() && !dangling_.empty()) Problem(ErrorCode::kNotFound, dangling_);
    TakePathFiles();
    for (const std::string& folder : environment_.site_packages) {
      if (auto torch = FindTorch(folder)) {
        if (environment_.torch) {
          environment_.other_torches.push_back(std::move(*torch));
        } else {
          environment_.torch = std::move(torch);
        }
      }
      for (const std::string& part : ListFolder(folder + "/nvidia")) {
        const std::string lib = fmt::format("{}/nvidia/{}/lib", folder, part);
        if (IsFolder(lib)) environment_.nvidia_folders.push_back(lib);
      }
    }
  }

 private:
  const EnvironmentOptions& options_;
  Environment& environment_;
  std::string sysroot_;
  std::string dangling_;
};

uint16_t MachineOf(const std::string& path) {
  const auto file = MappedFile::Open(path);
  if (!file) return 0;
  const auto identity = ReadElfIdentity(file->bytes());
  return identity ? identity->machine : uint16_t{0};
}

}  // namespace

const char* EnvironmentKindName(EnvironmentKind kind) {
  switch (kind) {
    case EnvironmentKind::kVenv:
      return "virtual environment";
    case EnvironmentKind::kConda:
      return "conda environment";
    case EnvironmentKind::kSitePackages:
      return "site-packages folder";
    case EnvironmentKind::kSystem:
      return "Python prefix";
    case EnvironmentKind::kNone:
      break;
  }
  return "no environment";
}

std::vector<std::string> SplitLibraryPath(std::string_view text) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  while (true) {
    const size_t end = text.find_first_of(":;");
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos || parts.size() == 1024) return parts;
    text.remove_prefix(end + 1);
  }
}

Environment FindEnvironment(const EnvironmentOptions& options) {
  Environment environment;
  if (!options.folder.empty()) {
    Finder finder(options, environment);
    finder.Find();
    finder.TakePackages();
  }
  const uint16_t machine = environment.python.empty() ? 0 : MachineOf(environment.python);
  environment.system = ReadSystemLibraries(options.sysroot, machine, environment.problems);
  environment.library_path = options.library_path;
  const char* variable = std::getenv("LD_LIBRARY_PATH");  // NOLINT(concurrency-mt-unsafe)
  if (options.use_process_library_path && variable) {
    for (std::string& folder : SplitLibraryPath(variable)) {
      environment.library_path.push_back(std::move(folder));
    }
  }
  return environment;
}

}  // namespace cuproof
