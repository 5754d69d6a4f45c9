// What the memory of this GPU gives at best: a kernel that only reads, a kernel that only copies.
// Ceilings for the benchmark, in the same run as what is measured against them. Plain C functions.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "grad/vector.cuh"

#define CUPROOF_OPS_BENCH_API extern "C" __attribute__((visibility("default")))

namespace {

using cuproof::ops::LoadStreaming;

/// A CTA takes tiles of threads * loads vectors of 16 bytes, all of a tile in flight at once.
struct Shape {
  const char* name;
  int threads;
  int ctas_per_sm;  // 0: one CTA for each `tiles` tiles
  int tiles;
};

constexpr Shape kShapes[] = {
    {"256 threads, 8 a multiprocessor", 256, 8, 0},
    {"512 threads, 4 a multiprocessor", 512, 4, 0},
    {"1024 threads, 2 a multiprocessor", 1024, 2, 0},
    {"256 threads, 2 tiles a CTA", 256, 0, 2},
    {"256 threads, 8 tiles a CTA", 256, 0, 8},
    {"512 threads, 4 tiles a CTA", 512, 0, 4},
};
constexpr int kShapeCount = sizeof(kShapes) / sizeof(kShapes[0]);
constexpr int kLoads = 4;

/// Calls body(first, in_range) for tiles of this CTA: all of a grid in turn, or its own run of
/// them.
template <class Body>
__device__ inline void ForTiles(size_t vectors, int tiles, Body body) {
  const size_t tile = static_cast<size_t>(blockDim.x) * kLoads;
  size_t first = blockIdx.x * tile;
  size_t step = gridDim.x * tile;
  size_t end = vectors;
  if (tiles > 0) {
    first = blockIdx.x * tile * tiles;
    step = tile;
    end = first + tile * tiles < vectors ? first + tile * tiles : vectors;
  }
  for (; first < end; first += step) body(first, first + tile <= vectors);
}

__global__ void __launch_bounds__(1024, 2)
    ReadKernel(const uint4* source, size_t vectors, int tiles, uint32_t* sink) {
  uint32_t bits = 0;
  ForTiles(vectors, tiles, [&](size_t first, bool whole) {
    uint4 value[kLoads];
#pragma unroll
    for (int l = 0; l < kLoads; ++l) {
      const size_t at = first + threadIdx.x + static_cast<size_t>(l) * blockDim.x;
      value[l] = whole || at < vectors ? LoadStreaming(source + at) : uint4{};
    }
#pragma unroll
    for (int l = 0; l < kLoads; ++l) bits ^= value[l].x ^ value[l].y ^ value[l].z ^ value[l].w;
  });
  // Hardly ever true, and the compiler cannot know: the loads stay.
  if (bits == 0x9e3779b9u) *sink = bits;
}

__global__ void __launch_bounds__(1024, 2)
    CopyKernel(const uint4* source, uint4* target, size_t vectors, int tiles) {
  ForTiles(vectors, tiles, [&](size_t first, bool whole) {
    uint4 value[kLoads];
#pragma unroll
    for (int l = 0; l < kLoads; ++l) {
      const size_t at = first + threadIdx.x + static_cast<size_t>(l) * blockDim.x;
      if (whole || at < vectors) value[l] = LoadStreaming(source + at);
    }
#pragma unroll
    for (int l = 0; l < kLoads; ++l) {
      const size_t at = first + threadIdx.x + static_cast<size_t>(l) * blockDim.x;
      if (whole || at < vectors) __stcs(target + at, value[l]);
    }
  });
}

unsigned Grid(const Shape& shape, size_t vectors) {
  const size_t tile = static_cast<size_t>(shape.threads) * kLoads;
  const size_t tiles = (vectors + tile - 1) / tile;
  if (shape.tiles > 0) return static_cast<unsigned>((tiles + shape.tiles - 1) / shape.tiles);
  int device = 0;
  int multiprocessors = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  const size_t resident = static_cast<size_t>(shape.ctas_per_sm) * multiprocessors;
  return static_cast<unsigned>(tiles < resident ? tiles : resident);
}

}  // namespace

CUPROOF_OPS_BENCH_API int cuproof_ops_bench_shapes() { return kShapeCount; }

CUPROOF_OPS_BENCH_API const char* cuproof_ops_bench_shape_name(int shape) {
  return shape >= 0 && shape < kShapeCount ? kShapes[shape].name : "";
}

/// Reads `bytes` (a multiple of 16) at `source`. `sink`: 4 bytes of device memory. Returns a
/// cudaError_t, as all below.
CUPROOF_OPS_BENCH_API int cuproof_ops_bench_read(const void* source, size_t bytes, int shape,
                                                 void* sink, cudaStream_t stream) {
  if (shape < 0 || shape >= kShapeCount || bytes < 16) return cudaErrorInvalidValue;
  const size_t vectors = bytes / 16;
  ReadKernel<<<Grid(kShapes[shape], vectors), kShapes[shape].threads, 0, stream>>>(
      static_cast<const uint4*>(source), vectors, kShapes[shape].tiles,
      static_cast<uint32_t*>(sink));
  return cudaPeekAtLastError();
}

CUPROOF_OPS_BENCH_API int cuproof_ops_bench_copy(void* target, const void* source, size_t bytes,
                                                 int shape, cudaStream_t stream) {
  if (shape < 0 || shape >= kShapeCount || bytes < 16) return cudaErrorInvalidValue;
  const size_t vectors = bytes / 16;
  CopyKernel<<<Grid(kShapes[shape], vectors), kShapes[shape].threads, 0, stream>>>(
      static_cast<const uint4*>(source), static_cast<uint4*>(target), vectors,
      kShapes[shape].tiles);
  return cudaPeekAtLastError();
}

CUPROOF_OPS_BENCH_API int cuproof_ops_bench_memcpy(void* target, const void* source, size_t bytes,
                                                   cudaStream_t stream) {
  return cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToDevice, stream);
}

/// Nodes of a captured graph: kernels, and all others.
CUPROOF_OPS_BENCH_API int cuproof_ops_bench_graph_nodes(cudaGraph_t graph, int* kernels,
                                                        int* others) {
  size_t count = 0;
  cudaError_t error = cudaGraphGetNodes(graph, nullptr, &count);
  std::vector<cudaGraphNode_t> nodes(count);
  if (error == cudaSuccess && count > 0) error = cudaGraphGetNodes(graph, nodes.data(), &count);
  *kernels = 0;
  *others = 0;
  for (size_t i = 0; i < count && error == cudaSuccess; ++i) {
    cudaGraphNodeType type;
    error = cudaGraphNodeGetType(nodes[i], &type);
    ++*(type == cudaGraphNodeTypeKernel ? kernels : others);
  }
  return error;
}
