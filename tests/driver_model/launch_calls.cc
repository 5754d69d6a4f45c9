// Launches, and the checks that a driver makes before it takes one.
#include <fmt/format.h>

#include <algorithm>

#include "world.h"

using namespace cuproof::model;

namespace {

CUresult Launch(const CUlaunchConfig* config, CUfunction function, bool per_thread,
                bool cooperative = false) {
  if (!config || !TheWorld().kernels.count(function)) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult sticky = Sticky()) return sticky;
  const auto& kernel = *reinterpret_cast<Kernel*>(function);
  if (const CUresult failed = CheckLaunch(kernel, *config)) return failed;
  if (cooperative && uint64_t{config->gridDimX} * config->gridDimY * config->gridDimZ > 132u * 32)
    return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  std::shared_ptr<Capture> capture;
  if (const CUresult refused = EnterStream(config->hStream, per_thread, capture)) return refused;
  if (!capture) return CUDA_SUCCESS;
  auto node = std::make_unique<Node>();
  node->graph = capture->graph.get();
  node->kernel.func = function;
  node->kernel.gridDimX = config->gridDimX;
  node->kernel.gridDimY = config->gridDimY;
  node->kernel.gridDimZ = config->gridDimZ;
  node->kernel.blockDimX = config->blockDimX;
  node->kernel.blockDimY = config->blockDimY;
  node->kernel.blockDimZ = config->blockDimZ;
  node->kernel.sharedMemBytes = config->sharedMemBytes;
  capture->graph->nodes.push_back(std::move(node));
  return CUDA_SUCCESS;
}

CUresult HostFunction(CUstream stream, CUhostFn function, void* data, bool per_thread) {
  if (!function) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult sticky = Sticky()) return sticky;
  std::shared_ptr<Capture> capture;
  if (const CUresult refused = EnterStream(stream, per_thread, capture)) return refused;
  if (!capture) {
    function(data);
    return CUDA_SUCCESS;
  }
  auto node = std::make_unique<Node>();
  node->type = 3;
  node->graph = capture->graph.get();
  capture->graph->nodes.push_back(std::move(node));
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuproof::model::CheckLaunch(const Kernel& kernel, const CUlaunchConfig& config) {
  const unsigned grid[] = {config.gridDimX, config.gridDimY, config.gridDimZ};
  const unsigned block[] = {config.blockDimX, config.blockDimY, config.blockDimZ};
  const unsigned most_grid[] = {2147483647, 65535, 65535};
  const unsigned most_block[] = {1024, 1024, 64};
  for (int i = 0; i < 3; ++i) {
    if (grid[i] == 0 || grid[i] > most_grid[i] || block[i] == 0 || block[i] > most_block[i]) {
      Say(fmt::format("dimension {} of the launch is out of range: grid {}, block {}", "xyz"[i],
                      grid[i], block[i]));
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  const uint64_t threads = uint64_t{block[0]} * block[1] * block[2];
  if (threads > 1024) {
    Say(fmt::format("a block of {} threads, at most 1024 can be had", threads));
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (kernel.max_threads && threads > kernel.max_threads) {
    Say(fmt::format("a block of {} threads, the kernel was compiled for at most {}", threads,
                    kernel.max_threads));
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (uint64_t{config.sharedMemBytes} + kernel.static_shared >
      std::max<uint64_t>(kernel.dynamic_limit, 48 * 1024)) {
    Say(fmt::format("{} bytes of dynamic shared memory, at most {} can be had",
                    config.sharedMemBytes, kernel.dynamic_limit));
    return CUDA_ERROR_INVALID_VALUE;
  }
  const uint64_t warp = (uint64_t{kernel.registers} * 32 + 255) / 256 * 256;
  const uint64_t warps = (threads + 127) / 128;  // of each quarter of the register file
  if (warp * warps > 16384) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  return CUDA_SUCCESS;
}

namespace {

CUlaunchConfig ConfigOf(unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                        unsigned int by, unsigned int bz, unsigned int shared, CUstream stream) {
  return {gx, gy, gz, bx, by, bz, shared, stream, nullptr, 0};
}

}  // namespace

#define LAUNCH(name, counted, per_thread)                                                         \
  CUresult name(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx, \
                unsigned int by, unsigned int bz, unsigned int shared, CUstream stream, void**,   \
                void**) {                                                                         \
    const CUlaunchConfig config = ConfigOf(gx, gy, gz, bx, by, bz, shared, stream);               \
    return Call(counted, [&] { return Launch(&config, f, per_thread); });                         \
  }
LAUNCH(cuLaunchKernel, "cuLaunchKernel", false)
LAUNCH(cuLaunchKernel_ptsz, "cuLaunchKernel", true)

#define LAUNCH_COOPERATIVE(name, per_thread)                                                      \
  CUresult name(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx, \
                unsigned int by, unsigned int bz, unsigned int shared, CUstream stream, void**) { \
    const CUlaunchConfig config = ConfigOf(gx, gy, gz, bx, by, bz, shared, stream);               \
    return Call("cuLaunchCooperativeKernel",                                                      \
                [&] { return Launch(&config, f, per_thread, true); });                            \
  }
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel, false)
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz, true)

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void**, void**) {
  return Call("cuLaunchKernelEx", [&] { return Launch(config, function, false); });
}
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction function, void**, void**) {
  return Call("cuLaunchKernelEx", [&] { return Launch(config, function, true); });
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return Call("cuLaunchHostFunc", [&] { return HostFunction(stream, function, data, false); });
}
CUresult cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn function, void* data) {
  return Call("cuLaunchHostFunc", [&] { return HostFunction(stream, function, data, true); });
}
