#include "runtime/device.h"

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>

#include "runtime/status.h"

namespace cuproof::ops {
namespace {

// The only state that outlives a call: two facts for each device, packed in one word that is 0
// until they are known. Two threads that ask at the same time write the same word.
constexpr int kMaxDevices = 128;
std::array<std::atomic<int>, kMaxDevices> known;

}  // namespace

cuproof_ops_status CurrentDevice(Device* device) {
  const cudaError_t error = cudaGetDevice(&device->ordinal);
  if (error != cudaSuccess) {
    (void)cudaGetLastError();
    return Fail(CUPROOF_OPS_UNSUPPORTED_DEVICE, "no usable CUDA device: %s (%d): %s",
                cudaGetErrorName(error), static_cast<int>(error), cudaGetErrorString(error));
  }
  if (device->ordinal >= kMaxDevices) {
    return Fail(CUPROOF_OPS_UNSUPPORTED_DEVICE, "device %d: at most %d devices are known",
                device->ordinal, kMaxDevices);
  }
  std::atomic<int>& word = known[static_cast<size_t>(device->ordinal)];
  int facts = word.load(std::memory_order_relaxed);
  if (facts == 0) {
    int major = 0;
    int minor = 0;
    int multiprocessors = 0;
    CUPROOF_OPS_CUDA_TRY(
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device->ordinal));
    CUPROOF_OPS_CUDA_TRY(
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device->ordinal));
    CUPROOF_OPS_CUDA_TRY(
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device->ordinal));
    facts = (major * 10 + minor) << 16 | multiprocessors;
    word.store(facts, std::memory_order_relaxed);
  }
  device->capability = facts >> 16;
  device->multiprocessors = facts & 0xffff;
  if (device->capability < 80) {
    return Fail(CUPROOF_OPS_UNSUPPORTED_DEVICE,
                "device %d has compute capability %d.%d; this library has code for 8.0 and newer",
                device->ordinal, device->capability / 10, device->capability % 10);
  }
  return CUPROOF_OPS_OK;
}

}  // namespace cuproof::ops
