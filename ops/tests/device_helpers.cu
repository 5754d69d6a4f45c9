#include <stdexcept>

#include "device_helpers.h"

namespace cuproof::ops::test {
namespace {

__global__ void CompareKernel(const uint32_t* a, const uint32_t* b, uint64_t words,
                              Differences* result) {
  const uint64_t stride = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  for (uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x; i < words;
       i += stride) {
    if (a[i] == b[i]) continue;
    atomicAdd(reinterpret_cast<unsigned long long*>(&result->words), 1ull);
    atomicMin(reinterpret_cast<unsigned long long*>(&result->first), 4ull * i);
  }
}

__global__ void SpinKernel(const volatile int* stop, uint64_t nanoseconds) {
  extern __shared__ char whole_multiprocessor[];
  uint64_t begin;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  uint64_t now = begin;
  while (*stop == 0 && now - begin < nanoseconds) {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  }
  if (now == 0) whole_multiprocessor[0] = 1;
}

void Check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

}  // namespace

Differences Compare(const void* a, const void* b, uint64_t bytes) {
  static Differences* result = [] {
    Differences* made = nullptr;
    Check(cudaMalloc(&made, sizeof(Differences)));
    return made;
  }();
  Differences found{0, UINT64_MAX};
  Check(cudaMemcpy(result, &found, sizeof(found), cudaMemcpyHostToDevice));
  CompareKernel<<<1024, 256>>>(static_cast<const uint32_t*>(a), static_cast<const uint32_t*>(b),
                               bytes / 4, result);
  Check(cudaGetLastError());
  Check(cudaMemcpy(&found, result, sizeof(found), cudaMemcpyDeviceToHost));
  return found;
}

cudaError_t Spin(int ctas, const volatile int* stop, int milliseconds, cudaStream_t stream) {
  constexpr int kMostShared = 200 << 10;
  const cudaError_t error =
      cudaFuncSetAttribute(SpinKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kMostShared);
  // Less shared memory on smaller GPUs: then a multiprocessor may hold two of them.
  const int shared = error == cudaSuccess ? kMostShared : 48 << 10;
  (void)cudaGetLastError();
  SpinKernel<<<ctas, 1024, shared, stream>>>(stop, static_cast<uint64_t>(milliseconds) * 1000000);
  return cudaGetLastError();
}

}  // namespace cuproof::ops::test
