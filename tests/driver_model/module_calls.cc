// Images, modules, libraries, kernels and their attributes.
#include <fmt/format.h>

#include <cctype>
#include <cstring>
#include <string_view>

#include "bytes/expand.h"
#include "bytes/mapped_file.h"
#include "image/cubin.h"
#include "image/fatbin_format.h"
#include "resource/kernel_resources.h"
#include "target/facts.h"
#include "target/verdict.h"
#include "world.h"

using namespace cuproof;
using namespace cuproof::model;

namespace {

// A real driver reads as far as the image's own headers say; a test image is no larger.
constexpr size_t kMostText = 1 << 20;
constexpr size_t kMostClaimed = 64 << 20;

// How many bytes an image takes by its own headers.
size_t SizeOf(const void* image, size_t limit) {
  if (limit) return limit;
  const auto* bytes = static_cast<const uint8_t*>(image);
  if (std::memcmp(bytes,
                  "\x7F"
                  "ELF",
                  4) == 0)
    return CubinExtent(ByteView(bytes, kMostText));
  uint32_t magic = 0;
  std::memcpy(&magic, bytes, sizeof magic);
  if (magic == fatbin::kMagic) {
    uint16_t header = 0;
    uint64_t body = 0;
    std::memcpy(&header, bytes + 6, sizeof header);
    std::memcpy(&body, bytes + 8, sizeof body);
    // A claim that no test image has is a damaged one's; what is looked at lies in its padding.
    return body > kMostClaimed ? kMostText : header + body;
  }
  return strnlen(static_cast<const char*>(image), kMostText);
}

// "// model: NAME registers 168 threads 256" in a PTX text: what an assembler would find out.
void ApplyNotes(std::string_view text, Kernel& kernel) {
  const size_t at = text.find("// model: " + kernel.name + " ");
  if (at == std::string_view::npos) return;
  const std::string line(text.substr(at, text.find('\n', at) - at));
  unsigned value = 0;
  if (const size_t word = line.find("registers ");
      word != std::string::npos && std::sscanf(line.c_str() + word, "registers %u", &value) == 1)
    kernel.registers = value;
  if (const size_t word = line.find("threads ");
      word != std::string::npos && std::sscanf(line.c_str() + word, "threads %u", &value) == 1)
    kernel.max_threads = value;
}

void AddPtxKernels(std::string_view text, LoadedModule& module) {
  constexpr std::string_view kEntry = ".entry";
  for (size_t at = text.find(kEntry); at != std::string_view::npos; at = text.find(kEntry, at)) {
    at += kEntry.size();
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
    const size_t end = text.find_first_of(" \t\r\n({", at);
    if (end == std::string_view::npos) return;
    auto kernel = std::make_unique<Kernel>();
    kernel->name = text.substr(at, end - at);
    ApplyNotes(text, *kernel);
    module.kernels.push_back(std::move(kernel));
  }
}

void AddCubinKernels(ByteView bytes, LoadedModule& module) {
  const auto read = ReadKernelResources(bytes);
  if (!read) return;
  for (const KernelResources& found : *read) {
    auto kernel = std::make_unique<Kernel>();
    kernel->name = found.name;
    kernel->registers = found.registers.value_or(kernel->registers);
    kernel->static_shared = found.static_shared;
    if (found.max_threads) {
      const auto& threads = *found.max_threads;
      kernel->max_threads = threads[0] * threads[1] * threads[2];
    }
    module.kernels.push_back(std::move(kernel));
  }
}

void* HandleOf(std::unique_ptr<LoadedModule> module) {
  World& world = TheWorld();
  LoadedModule* key = module.get();
  for (auto& kernel : module->kernels) {
    kernel->module = key;
    kernel->ordinal = CurrentContext() ? CurrentContext()->ordinal : 0;
    world.kernels.insert(kernel.get());
  }
  world.modules[key] = std::move(module);
  return key;
}

CUresult Load(void** handle, const void* image, size_t limit = 0) {
  if (!handle || !image) return CUDA_ERROR_INVALID_VALUE;
  std::unique_ptr<LoadedModule> module;
  const CUresult result = LoadImage(image, limit, module);
  if (result == CUDA_SUCCESS) *handle = HandleOf(std::move(module));
  return result;
}

// A library is only kept; what is wrong with it is told by the first look-up of a kernel (an H200
// with r580 did so for every image, tests/fixtures/gpu_h200.json).
CUresult LoadLibrary(void** handle, const void* image, size_t limit = 0) {
  if (!handle || !image) return CUDA_ERROR_INVALID_VALUE;
  std::unique_ptr<LoadedModule> module;
  const CUresult result = LoadImage(image, limit, module);
  if (!module) module = std::make_unique<LoadedModule>();
  module->failure = result;
  *handle = HandleOf(std::move(module));
  return CUDA_SUCCESS;
}

CUresult LoadFile(void** handle, const char* path) {
  if (!handle || !path) return CUDA_ERROR_INVALID_VALUE;
  const auto file = MappedFile::Open(path);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  return Load(handle, file->bytes().data(), file->bytes().size());
}

CUresult Unload(void* handle) {
  World& world = TheWorld();
  const auto found = world.modules.find(handle);
  if (found == world.modules.end()) return CUDA_ERROR_INVALID_HANDLE;
  for (const auto& kernel : found->second->kernels) world.kernels.erase(kernel.get());
  world.modules.erase(found);
  return CUDA_SUCCESS;
}

CUresult FindKernel(void** kernel, void* handle, const char* name) {
  if (!kernel || !name) return CUDA_ERROR_INVALID_VALUE;
  const auto found = TheWorld().modules.find(handle);
  if (found == TheWorld().modules.end()) return CUDA_ERROR_INVALID_HANDLE;
  if (found->second->failure) return found->second->failure;
  for (const auto& candidate : found->second->kernels) {
    if (candidate->name != name) continue;
    *kernel = candidate.get();
    return CUDA_SUCCESS;
  }
  Say(fmt::format("the module has no function called {}", name));
  return CUDA_ERROR_NOT_FOUND;
}

Kernel* Known(void* handle) {
  return TheWorld().kernels.count(handle) ? static_cast<Kernel*>(handle) : nullptr;
}

// The largest block is what the registers leave, in whole warps of each quarter.
int LargestBlock(const Kernel& kernel) {
  const uint32_t warp = (kernel.registers * 32 + 255) / 256 * 256;
  const uint32_t threads = warp ? 16384 / warp * 4 * 32 : 1024;
  return static_cast<int>(
      std::min({1024u, threads, kernel.max_threads ? kernel.max_threads : 1024}));
}

CUresult GetAttribute(int* value, int attribute, void* handle) {
  const Kernel* kernel = Known(handle);
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  if (!kernel) return CUDA_ERROR_INVALID_HANDLE;
  *value = attribute == 0   ? LargestBlock(*kernel)
           : attribute == 1 ? static_cast<int>(kernel->static_shared)
           : attribute == 4 ? static_cast<int>(kernel->registers)
           : attribute == 8 ? static_cast<int>(kernel->dynamic_limit)
                            : 0;
  return CUDA_SUCCESS;
}

CUresult SetAttribute(int attribute, int value, void* handle) {
  Kernel* kernel = Known(handle);
  if (!kernel) return CUDA_ERROR_INVALID_HANDLE;
  if (attribute != 8) return CUDA_SUCCESS;
  int limit = 0;
  cuDeviceGetAttribute(&limit, 97, static_cast<CUdevice>(kernel->ordinal));
  if (value < 0 || value + static_cast<int>(kernel->static_shared) > limit) {
    Say(fmt::format("{} bytes of dynamic shared memory are more than the {} that can be had", value,
                    limit));
    return CUDA_ERROR_INVALID_VALUE;
  }
  kernel->dynamic_limit = static_cast<uint32_t>(value);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuproof::model::LoadImage(const void* image, size_t limit,
                                   std::unique_ptr<LoadedModule>& module) {
  const World& world = TheWorld();
  if (!CurrentContext() && world.gpus.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  const Gpu& gpu =
      world.gpus[CurrentContext() ? static_cast<size_t>(CurrentContext()->ordinal) : 0];
  const Driver driver = DriverFromCuda({static_cast<uint16_t>(world.version / 1000),
                                        static_cast<uint16_t>(world.version % 1000 / 10)});
  const ByteView bytes(static_cast<const uint8_t*>(image), SizeOf(image, limit));
  FileImages file = ListImages(bytes);
  if (file.modules.empty()) return CUDA_ERROR_INVALID_IMAGE;
  ReadModules(bytes, file, {0});
  const ModuleVerdict verdict = JudgeModule(file, file.modules[0], gpu, driver);
  if (verdict.outcome != Outcome::kRunsSass && verdict.outcome != Outcome::kRunsJit) {
    const int error = ReasonError(verdict.reason);
    if (error == CUDA_ERROR_NO_BINARY_FOR_GPU)
      Say(fmt::format("the image has no code for GPU ISA {}", gpu.sm));
    return error ? error : CUDA_ERROR_INVALID_IMAGE;
  }
  const Image& taken = file.images[static_cast<size_t>(verdict.image)];
  const ByteView stored = bytes.Clamp(taken.payload, taken.stored_size);
  const auto expanded = Expand(taken.compression, stored, taken.raw_size);
  if (!expanded) return CUDA_ERROR_INVALID_IMAGE;
  module = std::make_unique<LoadedModule>();
  if (taken.kind == ImageKind::kPtx) {
    AddPtxKernels(expanded->view().Text(), *module);
  } else {
    AddCubinKernels(expanded->view(), *module);
  }
  return CUDA_SUCCESS;
}

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return Call("cuModuleLoad", [&] { return LoadFile(reinterpret_cast<void**>(module), path); });
}
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return Call("cuModuleLoadData", [&] { return Load(reinterpret_cast<void**>(module), image); });
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int, int*, void**) {
  return Call("cuModuleLoadDataEx", [&] { return Load(reinterpret_cast<void**>(module), image); });
}
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return Call("cuModuleLoadFatBinary",
              [&] { return Load(reinterpret_cast<void**>(module), image); });
}
CUresult cuModuleUnload(CUmodule module) {
  return Call("cuModuleUnload", [&] { return Unload(module); });
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return Call("cuModuleGetFunction",
              [&] { return FindKernel(reinterpret_cast<void**>(function), module, name); });
}
CUresult cuLibraryLoadData(CUlibrary* library, const void* code, int*, void**, unsigned int, int*,
                           void**, unsigned int) {
  return Call("cuLibraryLoadData",
              [&] { return LoadLibrary(reinterpret_cast<void**>(library), code); });
}
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, int*, void**, unsigned int,
                               int*, void**, unsigned int) {
  return Call("cuLibraryLoadFromFile", [&]() -> CUresult {
    const auto file = MappedFile::Open(path ? path : "");
    if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
    return LoadLibrary(reinterpret_cast<void**>(library), file->bytes().data(),
                       file->bytes().size());
  });
}
CUresult cuLibraryUnload(CUlibrary library) {
  return Call("cuLibraryUnload", [&] { return Unload(library); });
}
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return Call("cuLibraryGetKernel",
              [&] { return FindKernel(reinterpret_cast<void**>(kernel), library, name); });
}
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return Call("cuLibraryGetModule", [&]() -> CUresult {
    if (!module) return CUDA_ERROR_INVALID_VALUE;
    if (!TheWorld().modules.count(library)) return CUDA_ERROR_INVALID_HANDLE;
    *module = reinterpret_cast<CUmodule>(library);
    return CUDA_SUCCESS;
  });
}
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return Call("cuKernelGetFunction", [&]() -> CUresult {
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    if (!Known(kernel)) return CUDA_ERROR_INVALID_HANDLE;
    *function = reinterpret_cast<CUfunction>(kernel);
    return CUDA_SUCCESS;
  });
}
CUresult cuFuncGetName(const char** name, CUfunction function) {
  return Call("cuFuncGetName", [&]() -> CUresult {
    const Kernel* kernel = Known(function);
    if (!name || !kernel) return CUDA_ERROR_INVALID_VALUE;
    *name = kernel->name.c_str();
    return CUDA_SUCCESS;
  });
}
CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return Call("cuFuncGetModule", [&]() -> CUresult {
    const Kernel* kernel = Known(function);
    if (!module || !kernel) return CUDA_ERROR_INVALID_VALUE;
    *module = static_cast<CUmodule>(kernel->module);
    return CUDA_SUCCESS;
  });
}
CUresult cuFuncGetAttribute(int* value, int attribute, CUfunction function) {
  return Call("cuFuncGetAttribute", [&] { return GetAttribute(value, attribute, function); });
}
CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  return Call("cuFuncSetAttribute", [&] { return SetAttribute(attribute, value, function); });
}
CUresult cuKernelGetAttribute(int* value, int attribute, CUkernel kernel, CUdevice) {
  return Call("cuKernelGetAttribute", [&] { return GetAttribute(value, attribute, kernel); });
}
CUresult cuKernelSetAttribute(int attribute, int value, CUkernel kernel, CUdevice) {
  return Call("cuKernelSetAttribute", [&] { return SetAttribute(attribute, value, kernel); });
}
