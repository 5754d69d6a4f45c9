#pragma once
#include <string>
#include <vector>

#include "build_dynamic.h"
#include "container/test_folder.h"
#include "link/python_process.h"

namespace cuproof {

/// A folder with libraries, and an environment around it that sees nothing of this machine.
class TestTree : public TestFolder {
 public:
  TestTree() {
    environment.system.sysroot = At("system");
    environment.system.machine = EM_X86_64;
    environment.system.default_folders = {"/usr/lib"};
    environment.system.lib_token = "lib";
    environment.system.platform_token = "x86_64";
  }

  std::string Add(const std::string& name, const build::DynamicElf& elf) const {
    return Write(name, build::DynamicElfBytes(elf));
  }

  /// Loads a file as the program.
  LoadReport Ldd(const std::string& path) {
    process.emplace(environment, files);
    return TryLdd(environment, files, path, &process);
  }

  Environment environment;
  FileCache files;
  std::optional<Process> process;
};

inline build::DynamicElf Needing(std::vector<std::string> needed) {
  build::DynamicElf elf;
  elf.needed = std::move(needed);
  return elf;
}

inline std::vector<std::string> MissingNames(const LoadReport& report) {
  std::vector<std::string> names;
  for (const MissingLibrary& missing : report.outcome.missing) names.push_back(missing.name);
  return names;
}

}  // namespace cuproof
