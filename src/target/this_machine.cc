#include "target/this_machine.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <memory>

#include "target/target.h"

namespace cuproof {
namespace {

struct LibraryCloser {
  void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, LibraryCloser>;

template <typename Function>
Function* Symbol(const Library& library, const char* name) {
  return library ? reinterpret_cast<Function*>(dlsym(library.get(), name)) : nullptr;
}

std::string ReadText(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// What the driver library itself says. It is the number that counts: with the forward-compatibility
// package it is newer than the kernel module's.
Version CudaOfDriverLibrary() {
  const Library cuda(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL));
  auto* version_of = Symbol<int(int*)>(cuda, "cuDriverGetVersion");
  int version = 0;  // 13000 is 13.0
  if (!version_of || version_of(&version) != 0 || version < 1000) return {};
  return {static_cast<uint16_t>(version / 1000), static_cast<uint16_t>(version % 1000 / 10)};
}

std::vector<Gpu> GpusThroughNvml() {
  std::vector<Gpu> gpus;
  const Library nvml(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL));
  auto* init = Symbol<int()>(nvml, "nvmlInit_v2");
  auto* count_of = Symbol<int(unsigned*)>(nvml, "nvmlDeviceGetCount_v2");
  auto* handle_of = Symbol<int(unsigned, void**)>(nvml, "nvmlDeviceGetHandleByIndex_v2");
  auto* name_of = Symbol<int(void*, char*, unsigned)>(nvml, "nvmlDeviceGetName");
  auto* capability_of = Symbol<int(void*, int*, int*)>(nvml, "nvmlDeviceGetCudaComputeCapability");
  auto* shutdown = Symbol<int()>(nvml, "nvmlShutdown");
  if (!init || !count_of || !handle_of || !name_of || !capability_of || !shutdown) return gpus;
  if (init() != 0) return gpus;
  unsigned count = 0;
  if (count_of(&count) != 0) count = 0;
  for (unsigned i = 0; i < count; ++i) {
    void* device = nullptr;
    int major = 0;
    int minor = 0;
    std::array<char, 128> name = {};
    if (handle_of(i, &device) != 0 || capability_of(device, &major, &minor) != 0) continue;
    auto found = FindGpus(fmt::format("{}.{}", major, minor));
    // A GPU that is here exists, whatever the tables say.
    Gpu unknown;
    unknown.sm = static_cast<uint32_t>(major) * 10u + static_cast<uint32_t>(minor);
    unknown.in_data = false;
    Gpu gpu = found && !found->empty() ? found->front() : unknown;
    if (name_of(device, name.data(), static_cast<unsigned>(name.size() - 1)) == 0) {
      gpu.product = name.data();
    }
    gpu.present = true;
    // Four cards of one kind are one question.
    bool known = false;
    for (const Gpu& other : gpus) known |= other.sm == gpu.sm && other.product == gpu.product;
    if (!known) gpus.push_back(std::move(gpu));
  }
  shutdown();
  return gpus;
}

}  // namespace

std::string DriverNumberIn(std::string_view text) {
  // "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build …"
  constexpr size_t kBranchDigits = 3;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = at;
    while (end < text.size() &&
           (std::isdigit(static_cast<unsigned char>(text[end])) || text[end] == '.'))
      ++end;
    const std::string_view word = text.substr(at, end - at);
    const bool starts_word = at == 0 || std::isspace(static_cast<unsigned char>(text[at - 1]));
    if (starts_word && word.find('.') == kBranchDigits && word.back() != '.')
      return std::string(word);
    at = end + 1;
  }
  return {};
}

Target ThisMachine() {
  Target target;
  const std::string number = DriverNumberIn(ReadText("/proc/driver/nvidia/version"));
  const Version cuda = CudaOfDriverLibrary();
  if (!number.empty()) {
    if (auto driver = FindDriver(number)) target.driver = std::move(*driver);
  }
  if (cuda.known()) {
    Driver from_library = DriverFromCuda(cuda);
    if (!target.driver) {
      target.driver = std::move(from_library);
    } else if (cuda > target.driver->cuda) {
      target.notes.push_back(fmt::format(
          "kernel module {} with a driver library for CUDA {}: forward compatibility is in use",
          number, VersionText(cuda)));
      target.driver->cuda = from_library.cuda;
    }
  }
  target.gpus = GpusThroughNvml();
  target.named = !target.gpus.empty();
  return target;
}

}  // namespace cuproof
