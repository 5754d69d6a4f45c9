// Memory: device pointers are addresses of the host, so that copies do copy.
#include <cstring>

#include "world.h"

using namespace cuproof::model;

namespace {

CUresult Allocate(CUdeviceptr* pointer, size_t bytes) {
  if (!pointer || !bytes) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult sticky = Sticky()) return sticky;
  if (bytes > size_t{1} << 34) return CUDA_ERROR_OUT_OF_MEMORY;
  // Large allocations are only promises, as no kernel will write to them.
  auto memory = std::make_unique_for_overwrite<char[]>(bytes);
  *pointer = reinterpret_cast<CUdeviceptr>(memory.get());
  TheWorld().memory[*pointer] = std::move(memory);
  return CUDA_SUCCESS;
}

CUresult Free(CUdeviceptr pointer) {
  if (!pointer) return CUDA_SUCCESS;
  return TheWorld().memory.erase(pointer) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// The API has device pointers as numbers.
void* Host(CUdeviceptr pointer) {
  return reinterpret_cast<void*>(pointer);  // NOLINT(performance-no-int-to-ptr)
}

// Of work on a stream: done at once, or a node of the graph that takes it.
CUresult OnStream(CUstream stream, bool per_thread, int node_type,
                  const std::function<CUresult()>& work) {
  if (const CUresult sticky = Sticky()) return sticky;
  std::shared_ptr<Capture> capture;
  if (const CUresult refused = EnterStream(stream, per_thread, capture)) return refused;
  if (!capture) return work();
  auto node = std::make_unique<Node>();
  node->type = node_type;
  node->graph = capture->graph.get();
  capture->graph->nodes.push_back(std::move(node));
  // The address that an allocation will have is known when it is captured.
  return node_type == 10 ? work() : CUDA_SUCCESS;
}

CUresult Copy(void* to, const void* from, size_t bytes) {
  if (!to || !from) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(to, from, bytes);
  return CUDA_SUCCESS;
}

CUresult Set(CUdeviceptr to, int value, size_t bytes) {
  if (!to) return CUDA_ERROR_INVALID_VALUE;
  std::memset(Host(to), value, bytes);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuMemAlloc_v2(CUdeviceptr* pointer, size_t bytes) {
  return Call("cuMemAlloc", [&]() -> CUresult {
    if (const CUresult refused = RefuseInCapture("cuMemAlloc")) return refused;
    return Allocate(pointer, bytes);
  });
}
CUresult cuMemFree_v2(CUdeviceptr pointer) {
  return Call("cuMemFree", [&] { return Free(pointer); });
}

#define TWIN(name, counted, twin, parameters, stream, node_type, work)               \
  CUresult name parameters {                                                         \
    return Call(counted, [&] {                                                       \
      return OnStream(stream, false, node_type, [&]() -> CUresult { return work; }); \
    });                                                                              \
  }                                                                                  \
  CUresult name##twin parameters {                                                   \
    return Call(counted, [&] {                                                       \
      return OnStream(stream, true, node_type, [&]() -> CUresult { return work; });  \
    });                                                                              \
  }
TWIN(cuMemAllocAsync, "cuMemAllocAsync", _ptsz,
     (CUdeviceptr * pointer, size_t bytes, CUstream stream), stream, 10, Allocate(pointer, bytes))
TWIN(cuMemFreeAsync, "cuMemFreeAsync", _ptsz, (CUdeviceptr pointer, CUstream stream), stream, 11,
     Free(pointer))
TWIN(cuMemcpyHtoD_v2, "cuMemcpyHtoD", _ptds, (CUdeviceptr to, const void* from, size_t bytes),
     nullptr, 1, Copy(Host(to), from, bytes))
TWIN(cuMemcpyDtoH_v2, "cuMemcpyDtoH", _ptds, (void* to, CUdeviceptr from, size_t bytes), nullptr, 1,
     Copy(to, Host(from), bytes))
TWIN(cuMemcpyHtoDAsync_v2, "cuMemcpyHtoDAsync", _ptsz,
     (CUdeviceptr to, const void* from, size_t bytes, CUstream stream), stream, 1,
     Copy(Host(to), from, bytes))
TWIN(cuMemcpyDtoHAsync_v2, "cuMemcpyDtoHAsync", _ptsz,
     (void* to, CUdeviceptr from, size_t bytes, CUstream stream), stream, 1,
     Copy(to, Host(from), bytes))
TWIN(cuMemsetD8_v2, "cuMemsetD8", _ptds, (CUdeviceptr to, unsigned char value, size_t bytes),
     nullptr, 2, Set(to, value, bytes))
TWIN(cuMemsetD8Async, "cuMemsetD8Async", _ptsz,
     (CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream), stream, 2,
     Set(to, value, bytes))
