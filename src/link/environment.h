#pragma once
#include <optional>
#include <string>
#include <vector>

#include "bytes/result.h"
#include "link/ld_cache.h"

namespace cuproof {

enum class EnvironmentKind : uint8_t { kNone, kVenv, kConda, kSitePackages, kSystem };

const char* EnvironmentKindName(EnvironmentKind kind);

/// A torch in an environment, read as text: nothing of it is run.
struct TorchInstall {
  std::string folder;   // …/site-packages/torch
  std::string version;  // "2.11.0+cu130": torch/version.py, else METADATA, else empty
  std::string cuda;     // "13.0"; empty for a build without CUDA or when it is not said
  bool has_cuda = false;
  std::string source;  // the file that the version was read from
};

/// What the loader of a system looks at, apart from the process.
struct SystemLibraries {
  std::string sysroot;                       // "" for this machine; else without a slash at its end
  uint16_t machine = 0;                      // EM_X86_64
  std::vector<std::string> default_folders;  // as the loader names them, without the sysroot
  LdCache cache;
  bool has_cache = false;
  /// The folders of etc/ld.so.conf where there is no cache: what ldconfig would list.
  std::vector<std::string> configured_folders;
  std::string loader_path;  // ld-linux-x86-64.so.2, on this machine's paths; empty: not found
  std::vector<std::string> hwcaps;  // "x86-64-v3", …: the best first
  std::string lib_token;            // what $LIB stands for: "lib/x86_64-linux-gnu", "lib64"
  std::string platform_token;       // $PLATFORM: "x86_64"
  std::string libc_path;            // libc.so.6 found, or empty
};

struct EnvironmentOptions {
  std::string folder;   // a venv, a conda prefix, a site-packages folder, or a prefix such as /usr;
                        // empty: no environment
  std::string sysroot;  // a container's file system; empty: this machine's
  std::vector<std::string> library_path;  // LD_LIBRARY_PATH, already split
  bool use_process_library_path = false;  // take LD_LIBRARY_PATH of this process, too
};

/// A folder outside of the environment that one of its files puts into sys.path.
struct PathEntry {
  std::string folder;
  std::string from;  // "__editable__.x-1.0.pth", the name of that file
};

/// What a process of an environment would be made of.
struct Environment {
  EnvironmentKind kind = EnvironmentKind::kNone;
  std::string folder;
  std::string python;          // the interpreter's file, links resolved; empty: none was found
  std::string python_version;  // "3.11"
  std::vector<std::string> site_packages;   // in the order of sys.path, as far as files tell
  std::optional<TorchInstall> torch;        // the first one that Python would import
  std::vector<TorchInstall> other_torches;  // further ones, shadowed
  std::vector<PathEntry> path_entries;      // of .pth files and editable installs
  std::vector<std::string> nvidia_folders;  // …/nvidia/cu13/lib, …/nvidia/cudnn/lib
  std::vector<std::string> library_path;    // LD_LIBRARY_PATH; an empty entry is the current folder
  SystemLibraries system;
  std::vector<Error> problems;  // said, and the rest goes on
};

/// Never fails as a whole: a folder that is no environment is a problem in it.
Environment FindEnvironment(const EnvironmentOptions& options);

/// "a:b" split at colons and semicolons as the loader does.
std::vector<std::string> SplitLibraryPath(std::string_view text);

/// `path`, which an absolute text inside a sysroot gave, as a path of this machine; links with
/// absolute targets on the way are followed within the sysroot.
std::string InSysroot(const std::string& sysroot, const std::string& path);

}  // namespace cuproof
