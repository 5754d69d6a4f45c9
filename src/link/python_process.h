#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "link/resolve.h"

namespace cuproof {

/// One thing that was loaded on the way to a process that has imported torch.
struct PreparationStep {
  std::string path;
  bool global = false;
  LoadReport report;
  /// Where the load failed, the process that the numbers in `report` are of: it left nothing behind
  /// in the prepared one.
  std::shared_ptr<const Process> failed;
};

struct PreparedProcess {
  Process process;
  std::vector<PreparationStep> steps;  // the program, torch's global dependencies, torch's module
  bool has_program = false;
  bool has_torch = false;  // torch was there and its module loads

  const Process& ProcessOf(const PreparationStep& step) const {
    return step.failed ? *step.failed : process;
  }
};

struct PrepareOptions {
  bool python = true;  // the environment's interpreter as the program
  bool torch = true;   // import torch first, where there is one
};

/// A process of the environment, up to the point where an extension is imported. It is modelled
/// from files: no code is run.
PreparedProcess PrepareProcess(const Environment& environment, FileCache& files,
                               const PrepareOptions& options = {});

/// What dlopen(path, RTLD_NOW | RTLD_LOCAL) does in a copy of that process.
LoadReport TryLoad(const PreparedProcess& prepared, const std::string& path);
LoadReport TryLoad(const PreparedProcess& prepared, const std::string& path, Process& process);

/// What `ldd -r path` says: the file as the program, nothing loaded before.
LoadReport TryLdd(const Environment& environment, FileCache& files, const std::string& path,
                  std::optional<Process>* process = nullptr);

}  // namespace cuproof
