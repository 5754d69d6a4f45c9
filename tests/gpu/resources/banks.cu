// Shared-memory accesses in the patterns given on standard input, one a line:
//   NAME BYTES OFFSET0 ... OFFSET31
// For each, loads and stores of one warp at these byte offsets. Prints the clocks that a
// multiprocessor takes for one such instruction when eight warps keep its pipe full: one wavefront
// takes one clock. Volatile: without it ptxas keeps one load of all. usage: banks [WARPS] <
// PATTERNS; one warp is for a profiler that counts wavefronts.
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kInstructions = 2048;
constexpr int kUnroll = 16;
constexpr int kSharedBytes = 64 * 1024;

template <int BYTES, bool STORE>
__global__ void access(const int* offsets, long long* clocks, unsigned* sink) {
  extern __shared__ __align__(16) unsigned char memory[];
  for (int i = threadIdx.x * 4; i < kSharedBytes; i += blockDim.x * 4)
    *reinterpret_cast<unsigned*>(memory + i) = i;
  unsigned base;
  asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(base) : "l"(memory));
  const unsigned address = base + offsets[threadIdx.x % 32];
  unsigned a = threadIdx.x, b = a, c = a, d = a;
  __syncthreads();
  const long long start = clock64();
  for (int i = 0; i < kInstructions / kUnroll; ++i) {
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      if constexpr (STORE) {
        if constexpr (BYTES == 1)
          asm volatile("st.volatile.shared.u8 [%0], %1;" ::"r"(address), "r"(a) : "memory");
        if constexpr (BYTES == 2)
          asm volatile("st.volatile.shared.u16 [%0], %1;" ::"r"(address), "h"((short)a) : "memory");
        if constexpr (BYTES == 4)
          asm volatile("st.volatile.shared.b32 [%0], %1;" ::"r"(address), "r"(a) : "memory");
        if constexpr (BYTES == 8)
          asm volatile("st.volatile.shared.v2.b32 [%0], {%1,%2};" ::"r"(address), "r"(a), "r"(b)
                       : "memory");
        if constexpr (BYTES == 16)
          asm volatile("st.volatile.shared.v4.b32 [%0], {%1,%2,%3,%4};" ::"r"(address), "r"(a),
                       "r"(b), "r"(c), "r"(d)
                       : "memory");
      } else {
        if constexpr (BYTES == 1)
          asm volatile("ld.volatile.shared.u8 %0, [%1];" : "=r"(a) : "r"(address) : "memory");
        if constexpr (BYTES == 2) {
          short s;
          asm volatile("ld.volatile.shared.u16 %0, [%1];" : "=h"(s) : "r"(address) : "memory");
          a = s;
        }
        if constexpr (BYTES == 4)
          asm volatile("ld.volatile.shared.b32 %0, [%1];" : "=r"(a) : "r"(address) : "memory");
        if constexpr (BYTES == 8)
          asm volatile("ld.volatile.shared.v2.b32 {%0,%1}, [%2];"
                       : "=r"(a), "=r"(b)
                       : "r"(address)
                       : "memory");
        if constexpr (BYTES == 16)
          asm volatile("ld.volatile.shared.v4.b32 {%0,%1,%2,%3}, [%4];"
                       : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                       : "r"(address)
                       : "memory");
      }
    }
  }
  __syncthreads();
  const long long end = clock64();
  sink[threadIdx.x] = a + b + c + d;
  if (threadIdx.x == 0) *clocks = end - start;
}

using Kernel = void (*)(const int*, long long*, unsigned*);

template <bool STORE>
Kernel Pick(int bytes) {
  switch (bytes) {
    case 1:
      return access<1, STORE>;
    case 2:
      return access<2, STORE>;
    case 4:
      return access<4, STORE>;
    case 8:
      return access<8, STORE>;
    case 16:
      return access<16, STORE>;
    default:
      return nullptr;
  }
}

/// Clocks of one instruction; negative: the error.
double Measure(Kernel kernel, const int* offsets, int warps) {
  int* on_gpu = nullptr;
  long long* clocks = nullptr;
  unsigned* sink = nullptr;
  cudaMalloc(&on_gpu, 32 * sizeof(int));
  cudaMalloc(&clocks, sizeof(long long));
  cudaMalloc(&sink, 1024 * sizeof(unsigned));
  cudaMemcpy(on_gpu, offsets, 32 * sizeof(int), cudaMemcpyHostToDevice);
  cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                       cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  long long best = -1;
  for (int i = 0; i < (warps == 1 ? 1 : 5); ++i) {
    kernel<<<1, warps * 32, kSharedBytes>>>(on_gpu, clocks, sink);
    long long once = -1;
    cudaMemcpy(&once, clocks, sizeof once, cudaMemcpyDeviceToHost);
    if (best < 0 || once < best) best = once;
  }
  const cudaError_t status = cudaGetLastError();
  cudaFree(on_gpu);
  cudaFree(clocks);
  cudaFree(sink);
  if (status != cudaSuccess) return -static_cast<double>(status);
  return static_cast<double>(best) / kInstructions / warps;
}

}  // namespace

int main(int count, char** words) {
  const int warps = count > 1 ? std::atoi(words[1]) : 8;
  char name[128];
  int bytes = 0;
  while (std::scanf("%127s %d", name, &bytes) == 2) {
    int offsets[32];
    for (int& offset : offsets)
      if (std::scanf("%d", &offset) != 1 || offset < 0 || offset + bytes > kSharedBytes) return 2;
    if (!Pick<false>(bytes)) return 2;
    const double load = Measure(Pick<false>(bytes), offsets, warps);
    const double store = Measure(Pick<true>(bytes), offsets, warps);
    std::printf(
        "{\"pattern\":\"%s\",\"bytes\":%d,\"warps\":%d,\"load\":%.4f,\"store\":%.4f,"
        "\"instructions\":%d}\n",
        name, bytes, warps, load, store, kInstructions);
    std::fflush(stdout);
  }
  return 0;
}
