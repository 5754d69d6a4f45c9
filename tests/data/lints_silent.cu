// Code that is right, near to what CP411 to CP414 tell: nothing may be told of it.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cub/cub.cuh>

namespace groups = cooperative_groups;

__global__ void block_sum(const float* in, float* out) {
  using Reduce = cub::BlockReduce<float, 256>;
  __shared__ typename Reduce::TempStorage memory;
  const float sum = Reduce(memory).Sum(in[threadIdx.x]);
  if (threadIdx.x == 0) *out = sum;
}

__global__ void block_sort(unsigned* data) {
  using Sort = cub::BlockRadixSort<unsigned, 128, 4>;
  using Load = cub::BlockLoad<unsigned, 128, 4, cub::BLOCK_LOAD_VECTORIZE>;
  using Store = cub::BlockStore<unsigned, 128, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  __shared__ union {
    typename Sort::TempStorage sort;
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } memory;
  unsigned keys[4];
  Load(memory.load).Load(data, keys);
  __syncthreads();
  Sort(memory.sort).Sort(keys);
  __syncthreads();
  Store(memory.store).Store(data, keys);
}

__global__ void half_warp_sum(float* data) {
  using Reduce = cub::WarpReduce<float, 16>;
  __shared__ typename Reduce::TempStorage memory[8];
  const float sum = Reduce(memory[threadIdx.x / 16]).Sum(data[threadIdx.x]);
  if (threadIdx.x % 16 == 0) data[threadIdx.x] = sum;
}

__global__ void groups_of_some(float* data, int n) {
  auto tile = groups::tiled_partition<8>(groups::this_thread_block());
  float v = data[threadIdx.x];
  if (threadIdx.x < n) v = groups::reduce(groups::coalesced_threads(), v, groups::plus<float>());
  data[threadIdx.x] = v + tile.shfl_xor(v, 3);
}

__global__ void voted_mask(float* data, int n) {
  const unsigned mask = __ballot_sync(~0u, threadIdx.x < n);
  if (threadIdx.x < n) data[threadIdx.x] += __shfl_down_sync(mask, data[threadIdx.x], 1);
}

__global__ void mask_of_those_that_come(float* data) {
  const int lane = threadIdx.x & 31;
  float v = data[threadIdx.x];
  if (lane < 16) v += __shfl_xor_sync(0xffff, v, 1);
  data[threadIdx.x] = v;
}

__global__ void others_have_ended(float* data) {
  const int lane = threadIdx.x & 31;
  if (lane >= 16) return;
  data[threadIdx.x] += __shfl_xor_sync(~0u, data[threadIdx.x], 1);
}

__global__ void sum_in_double(float* out, const float* a, const float* b, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += double(a[i]) * double(b[i]);
  *out = static_cast<float>(sum);
}

__global__ void aligned_vectors(float* out, int n) {
  __shared__ __align__(16) float s[64];
  s[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  const float4 v = *reinterpret_cast<float4*>(s + 4 * (n & 7));
  const float2 w = *reinterpret_cast<float2*>(s + 2);
  out[threadIdx.x] = v.x + v.y + v.z + v.w + w.x + w.y;
}

__global__ void unrolled_array(float* out) {
  float a[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) a[i] = out[i];
#pragma unroll
  for (int i = 0; i < 8; ++i) out[i] = a[7 - i];
}
