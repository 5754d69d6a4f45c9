#include "link/system_libraries.h"

#include <elf.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "bytes/mapped_file.h"
#include "link/text_file.h"
#include "symbol/dynamic_object.h"

namespace cuproof {
namespace {

struct LoaderName {
  uint16_t machine;
  const char* path;
  const char* multiarch;  // Debian's folder
  const char* platform;
};
constexpr std::array<LoaderName, 2> kLoaders = {{
    {EM_X86_64, "/lib64/ld-linux-x86-64.so.2", "x86_64-linux-gnu", "x86_64"},
    {EM_AARCH64, "/lib/ld-linux-aarch64.so.1", "aarch64-linux-gnu", "aarch64"},
}};

constexpr uint16_t kThisMachine =
#if defined(__aarch64__)
    EM_AARCH64;
#else
    EM_X86_64;
#endif

const LoaderName& LoaderOf(uint16_t machine) {
  for (const LoaderName& loader : kLoaders) {
    if (loader.machine == machine) return loader;
  }
  return kLoaders[0];
}

// Levels of the x86-64 psABI that this processor has; glibc-hwcaps/ folders are named after them.
std::vector<std::string> ProcessorLevels(uint16_t machine) {
  std::vector<std::string> levels;
  if (machine != kThisMachine) return levels;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
                  __builtin_cpu_supports("fma");
  const bool v4 = v3 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (v4) levels.emplace_back("x86-64-v4");
  if (v3) levels.emplace_back("x86-64-v3");
  if (v2) levels.emplace_back("x86-64-v2");
#endif
  return levels;
}

// A distribution compiles its folders into the loader, one text behind another. Debian has those of
// its multiarch scheme before the plain ones.
void ReadDefaultFolders(const LoaderName& loader, SystemLibraries& system) {
  const std::string multiarch = fmt::format("/lib/{}/", loader.multiarch);
  bool debian = IsFolder(system.sysroot + multiarch);
  bool lib64 = IsFolder(system.sysroot + "/usr/lib64") && !debian;
  if (const auto file = MappedFile::Open(system.loader_path)) {
    const std::string_view text = file->bytes().Text();
    using namespace std::string_literals;
    const bool has_multiarch = text.find("\0"s + multiarch + "\0/usr"s + multiarch) != text.npos ||
                               text.find(multiarch + "\0/usr"s + multiarch) != text.npos;
    const bool has_lib64 = text.find("/lib64/\0/usr/lib64/"s) != text.npos;
    if (has_multiarch || has_lib64) {
      debian = has_multiarch;
      lib64 = !has_multiarch;
    }
  }
  if (debian) {
    system.default_folders = {fmt::format("/lib/{}", loader.multiarch),
                              fmt::format("/usr/lib/{}", loader.multiarch), "/lib", "/usr/lib"};
    system.lib_token = fmt::format("lib/{}", loader.multiarch);
  } else if (lib64) {
    system.default_folders = {"/lib64", "/usr/lib64"};
    system.lib_token = "lib64";
  } else {
    system.default_folders = {"/lib", "/usr/lib"};
    system.lib_token = "lib";
  }
}

// Lines of folders, and "include PATTERN", whose pattern names files of one folder. Files that
// include each other end with the budget.
void ReadConfiguration(const std::string& sysroot, const std::string& file, int& budget,
                       std::vector<std::string>& folders) {
  if (--budget < 0) return;
  const std::string text = ReadSmallFile(InSysroot(sysroot, file), 1 << 20);
  std::string_view rest = text;
  while (!rest.empty() && folders.size() < 1024) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view whole = rest.substr(0, end);
    const std::string_view line = Trimmed(whole.substr(0, whole.find('#')));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.substr(0, 8) == "include ") {
      std::string pattern(Trimmed(line.substr(8)));
      if (pattern.empty()) continue;
      if (pattern.front() != '/') pattern.insert(0, "/etc/");
      const std::string folder = pattern.substr(0, pattern.rfind('/'));
      for (const std::string& name : ListFolder(InSysroot(sysroot, folder), 1024)) {
        if (fnmatch(pattern.c_str() + folder.size() + 1, name.c_str(), 0) != 0) continue;
        ReadConfiguration(sysroot, JoinPath(folder, name), budget, folders);
      }
    } else if (!line.empty() && line.front() == '/') {
      folders.emplace_back(line);
    }
  }
}

void ReadCache(SystemLibraries& system, std::vector<Error>& problems) {
  const std::string path = InSysroot(system.sysroot, "/etc/ld.so.cache");
  const auto file = MappedFile::Open(path);
  if (file) {
    auto cache = LdCache::Read(file->bytes());
    if (cache) {
      system.cache = std::move(*cache);
      system.has_cache = true;
      return;
    }
    problems.push_back(cache.error());
    problems.back().file = path;
  }
  int budget = 100;
  ReadConfiguration(system.sysroot, "/etc/ld.so.conf", budget, system.configured_folders);
}

}  // namespace

std::string InSysroot(const std::string& sysroot, const std::string& path) {
  if (sysroot.empty() || path.empty() || path.front() != '/') return path;
  // Part by part: a link with an absolute target leads out of the sysroot otherwise.
  std::vector<std::string> parts;
  std::string rest = path;
  int links = 0;
  while (!rest.empty()) {
    const size_t slash = rest.find('/');
    const std::string part = rest.substr(0, slash);
    rest = slash == std::string::npos ? "" : rest.substr(slash + 1);
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
      continue;
    }
    std::string at = sysroot;
    for (const std::string& known : parts) at += '/' + known;
    at += '/' + part;
    std::array<char, 4096> target;
    const ssize_t length = readlink(at.c_str(), target.data(), target.size());
    if (length > 0 && static_cast<size_t>(length) < target.size() && ++links < 40) {
      const std::string to(target.data(), static_cast<size_t>(length));
      if (to.front() == '/') parts.clear();
      rest = JoinPath(to, rest);
      continue;
    }
    parts.push_back(part);
  }
  std::string out = sysroot;
  for (const std::string& part : parts) out += '/' + part;
  return out;
}

SystemLibraries ReadSystemLibraries(const std::string& sysroot, uint16_t machine,
                                    std::vector<Error>& problems) {
  SystemLibraries system;
  system.sysroot = sysroot;
  while (!system.sysroot.empty() && system.sysroot.back() == '/') system.sysroot.pop_back();
  system.machine = machine;
  if (machine == 0) {
    system.machine = kThisMachine;
    for (const LoaderName& loader : kLoaders) {
      if (!system.sysroot.empty() && IsFile(InSysroot(system.sysroot, loader.path))) {
        system.machine = loader.machine;
      }
    }
  }
  const LoaderName& loader = LoaderOf(system.machine);
  system.platform_token = loader.platform;
  const std::string path = InSysroot(system.sysroot, loader.path);
  if (IsFile(path)) {
    system.loader_path = path;
  } else if (!sysroot.empty()) {
    problems.push_back(
        {ErrorCode::kNotFound,
         fmt::format("no {} in it: the folders of its loader are not known", loader.path), sysroot,
         std::nullopt});
  }
  ReadDefaultFolders(loader, system);
  ReadCache(system, problems);
  system.hwcaps = ProcessorLevels(system.machine);
  for (const LdCache::Entry* entry : system.cache.Find("libc.so.6", system.machine, {})) {
    system.libc_path = InSysroot(system.sysroot, entry->path);
  }
  for (const std::string& folder : system.default_folders) {
    const std::string libc = InSysroot(system.sysroot, folder + "/libc.so.6");
    if (system.libc_path.empty() && IsFile(libc)) system.libc_path = libc;
  }
  return system;
}

}  // namespace cuproof
