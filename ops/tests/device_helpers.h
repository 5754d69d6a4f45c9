// The few kernels that the tests themselves need.
#ifndef CUPROOF_OPS_TESTS_DEVICE_HELPERS_H
#define CUPROOF_OPS_TESTS_DEVICE_HELPERS_H

#include <cuda_runtime_api.h>

#include <cstdint>

namespace cuproof::ops::test {

struct Differences {
  uint64_t words;  // of 4 bytes that differ
  uint64_t first;  // byte offset of the first
};

/// Compares `bytes` (a multiple of 4) of device memory; waits.
Differences Compare(const void* a, const void* b, uint64_t bytes);

/// Fills `ctas` CTAs' worth of multiprocessors with a kernel that spins until *stop is not 0
/// (mapped host memory), at most `milliseconds`.
cudaError_t Spin(int ctas, const volatile int* stop, int milliseconds, cudaStream_t stream);

}  // namespace cuproof::ops::test

#endif
