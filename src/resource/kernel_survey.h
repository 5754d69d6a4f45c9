#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "container/unit.h"
#include "image/file_images.h"
#include "resource/kernel_resources.h"
#include "target/target.h"

namespace cuproof {

/// The names of kernels, each once: a library has the same kernel for every architecture.
class KernelNames {
 public:
  /// The kept text and whether `wanted` takes it; asked once for each name.
  std::pair<const std::string*, bool> Keep(std::string_view name,
                                           const std::function<bool(const std::string&)>& wanted);

 private:
  std::unordered_map<std::string, bool> names_;
};

/// One kernel of one image.
struct KernelRow {
  const std::string* name = nullptr;  // mangled; resources.name is empty
  Arch arch;                          // of the image, with its suffix
  std::vector<uint32_t> gpus;         // of those asked for: which take this image; their sm
  KernelResources resources;
  bool of_log = false;       // then calls, recursion and parameters are not known
  bool shared_known = true;  // false: resources.static_shared says nothing
};

/// The kernels of one file.
struct FileKernels {
  uint32_t root = 0;
  std::string path;
  std::vector<KernelRow> kernels;  // in file order
  uint32_t cubins = 0;             // that were read
  uint32_t ptx_modules = 0;        // hold only PTX for a GPU that was asked for
  std::set<uint32_t> nothing_for;  // sm of those asked for that neither a cubin nor PTX is for
  // Where there are no kernels, why.
  uint32_t other_kernels = 0;     // whose names were not wanted
  uint32_t device_functions = 0;  // with code of their own
  uint32_t ptx_images = 0;
  std::set<Arch> archs;  // of all cubins
};

struct SurveyOptions {
  std::vector<Gpu> gpus;  // answer for these; empty: for every image
  unsigned threads = 1;
  bool device_functions = false;  // those with a section of their own, too
  std::function<bool(const std::string& mangled)> wanted = [](const std::string&) { return true; };
  // Called from any thread: bytes of a file that were dealt with, and at its end the rest of them.
  std::function<void(uint64_t)> on_bytes = [](uint64_t) {};
  std::function<void(uint64_t)> on_unit_done = [](uint64_t) {};
};

struct Survey {
  std::vector<Root> roots;
  std::shared_ptr<KernelNames> names;
  std::vector<FileKernels> files;  // by path; those with kernels, and those that were named
  std::vector<Error> problems;
};

/// Reads the kernels of every file. With GPUs named, only the images that a driver takes for them
/// are expanded.
Survey SurveyKernels(const Inventory& inventory, const SurveyOptions& options);

}  // namespace cuproof
