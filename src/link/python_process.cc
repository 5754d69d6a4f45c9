#include "link/python_process.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "link/text_file.h"
#include "link/torch_install.h"

namespace cuproof {
namespace {

/// Loads things into a process and remembers what came of it.
class Preparation {
 public:
  explicit Preparation(PreparedProcess& prepared) : prepared_(prepared) {}

  bool Start(const std::string& program) {
    LoadOutcome outcome = prepared_.process.Start(program);
    return Note(program, true, std::move(outcome));
  }

  // A load that fails leaves nothing behind, as in the loader.
  bool Open(const std::string& path, bool global) {
    Process before = prepared_.process;
    LoadOptions options;
    options.global = global;
    options.caller = caller_;
    const bool loads = Note(path, global, prepared_.process.Open(path, options));
    if (!loads) {
      prepared_.steps.back().failed = std::make_shared<const Process>(std::move(prepared_.process));
      prepared_.process = std::move(before);
    }
    return loads;
  }

  // The object whose code calls dlopen: libpython where Python was built with one.
  void FindCaller() {
    const auto& objects = prepared_.process.objects();
    for (uint32_t i = 0; i < objects.size(); ++i) {
      if (objects[i].dynamic().soname.substr(0, 9) == "libpython") caller_ = i;
    }
  }

  const LoadReport& last() const { return prepared_.steps.back().report; }

 private:
  bool Note(const std::string& path, bool global, LoadOutcome outcome) {
    PreparationStep step;
    step.path = path;
    step.global = global;
    step.report = Resolve(prepared_.process, std::move(outcome));
    prepared_.steps.push_back(std::move(step));
    return last().loads();
  }

  PreparedProcess& prepared_;
  uint32_t caller_ = kNoObject;
};

// The first file that fits, in the places where torch's glob looks.
std::string FindPreloaded(const Environment& environment, const TorchPreload::Library& library) {
  const std::string major = environment.torch->cuda.substr(0, environment.torch->cuda.find('.'));
  for (const std::string& site : environment.site_packages) {
    std::vector<std::string> folders = {site + "/nvidia/" + library.folder + "/lib"};
    if (!major.empty()) folders.push_back(fmt::format("{}/nvidia/cu{}/lib", site, major));
    folders.push_back(JoinPath(site, library.folder + "/lib"));
    for (const std::string& folder : folders) {
      for (const std::string& name : ListFolder(folder)) {
        if (fnmatch(library.pattern.c_str(), name.c_str(), FNM_PERIOD) == 0) {
          return JoinPath(folder, name);
        }
      }
    }
  }
  return {};
}

void Preload(const Environment& environment, const std::vector<TorchPreload::Library>& libraries,
             Preparation& preparation) {
  for (const TorchPreload::Library& library : libraries) {
    const std::string path = FindPreloaded(environment, library);
    if (!path.empty()) preparation.Open(path, false);
  }
}

// An exception of _preload_cuda_deps ends it, and is passed over.
void PreloadInOrder(const Environment& environment, const TorchPreload& preload,
                    Preparation& preparation) {
  for (const TorchPreload::Library& library : preload.always) {
    const std::string path = FindPreloaded(environment, library);
    if (path.empty() ? preload.required : !preparation.Open(path, false)) return;
  }
}

bool WantsPreload(const PreparedProcess& prepared, const TorchPreload& preload) {
  const std::string& cuda = prepared.process.environment().torch->cuda;
  if (!preload.only_cuda.empty() && std::find(preload.only_cuda.begin(), preload.only_cuda.end(),
                                              cuda) == preload.only_cuda.end()) {
    return false;
  }
  const auto& objects = prepared.process.objects();
  return preload.only_if_loaded.empty() ||
         std::any_of(objects.begin(), objects.end(), [&](const LoadedObject& object) {
           return object.path.find(preload.only_if_loaded) != std::string::npos;
         });
}

// torch/__init__.py: its global dependencies with RTLD_GLOBAL, and where they are not found, the
// CUDA libraries by path first; then the module torch._C, which brings the rest.
void ImportTorch(const Environment& environment, PreparedProcess& prepared,
                 Preparation& preparation) {
  const std::string& folder = environment.torch->folder;
  const TorchPreload preload = ReadTorchPreload(ReadSmallFile(folder + "/__init__.py"));
  const std::string global_deps = folder + "/lib/libtorch_global_deps.so";
  if (IsFile(global_deps)) {
    if (preparation.Open(global_deps, true)) {
      if (WantsPreload(prepared, preload)) PreloadInOrder(environment, preload, preparation);
    } else {
      Preload(environment, preload.all, preparation);
      preparation.Open(global_deps, true);
    }
  }
  std::string module;
  for (const std::string& name : ListFolder(folder)) {
    if (name.substr(0, 3) == "_C." && name.size() > 3 && name.substr(name.size() - 3) == ".so") {
      module = JoinPath(folder, name);
    }
  }
  // A folder with libraries and no module: a test's, or a LibTorch.
  if (module.empty()) module = folder + "/lib/libtorch_python.so";
  if (!IsFile(module)) module = folder + "/lib/libtorch.so";
  if (!IsFile(module)) module = folder + "/lib/libc10.so";
  if (IsFile(module)) prepared.has_torch = preparation.Open(module, false);
}

}  // namespace

PreparedProcess PrepareProcess(const Environment& environment, FileCache& files,
                               const PrepareOptions& options) {
  PreparedProcess prepared{Process(environment, files), {}, false, false};
  Preparation preparation(prepared);
  if (options.python && !environment.python.empty()) {
    preparation.Start(environment.python);
    prepared.has_program = !prepared.process.objects().empty();
    preparation.FindCaller();
  }
  if (options.torch && environment.torch) ImportTorch(environment, prepared, preparation);
  return prepared;
}

LoadReport TryLoad(const PreparedProcess& prepared, const std::string& path) {
  Process process = prepared.process;
  return TryLoad(prepared, path, process);
}

LoadReport TryLoad(const PreparedProcess& prepared, const std::string& path, Process& process) {
  process = prepared.process;
  LoadOptions options;
  for (uint32_t i = 0; i < process.objects().size(); ++i) {
    if (process.objects()[i].dynamic().soname.substr(0, 9) == "libpython") options.caller = i;
  }
  return Resolve(process, process.Open(path, options));
}

LoadReport TryLdd(const Environment& environment, FileCache& files, const std::string& path,
                  std::optional<Process>* process) {
  Process fresh(environment, files);
  LoadReport report = Resolve(fresh, fresh.Start(path));
  if (process) *process = std::move(fresh);
  return report;
}

}  // namespace cuproof
