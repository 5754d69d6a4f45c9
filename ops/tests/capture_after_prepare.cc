// A fresh process with lazy loading: after cuproof_ops_prepare every operator is captured at once,
// in strict global mode. Prints one line; exit code 0: all right, 1: a failure, 77: no GPU.
#include <cuda_runtime_api.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "cuproof/ops/grad_accumulate.h"
#include "cuproof/ops/grad_norm.h"
#include "cuproof/ops/grad_scale.h"
#include "cuproof/ops/loss_scale.h"
#include "cuproof/ops/nonfinite_guard.h"

namespace {

void Must(bool good, const char* what) {
  if (good) return;
  std::printf("FAILED: %s; CUDA: %s; library: %s\n", what, cudaGetErrorString(cudaGetLastError()),
              cuproof_ops_last_error());
  std::exit(1);
}

#define MUST(expression) Must((expression), #expression)
#define CUDA(call) Must((call) == cudaSuccess, #call)

template <class T>
T* Zeros(size_t count) {
  T* made = nullptr;
  CUDA(cudaMalloc(reinterpret_cast<void**>(&made), count * sizeof(T)));
  CUDA(cudaMemset(made, 0, count * sizeof(T)));
  return made;
}

template <class T>
T Get(const T* device) {
  T value;
  CUDA(cudaMemcpy(&value, device, sizeof(T), cudaMemcpyDeviceToHost));
  return value;
}

/// `count` tensors of four fp32 elements each that are 1: pages of every size.
struct List {
  explicit List(int64_t count)
      : data(static_cast<size_t>(count)),
        elements(static_cast<size_t>(count), 4),
        dtype(static_cast<size_t>(count), CUPROOF_OPS_F32),
        accumulators(static_cast<size_t>(count)) {
    const std::vector<float> ones(4 * static_cast<size_t>(count), 1);
    auto* all = Zeros<float>(ones.size());
    auto* sums = Zeros<float>(ones.size());
    CUDA(cudaMemcpy(all, ones.data(), ones.size() * 4, cudaMemcpyHostToDevice));
    for (size_t t = 0; t < data.size(); ++t) {
      data[t] = all + 4 * t;
      accumulators[t] = sums + 4 * t;
    }
    norm = Zeros<float>(1);
    sum_norm = Zeros<float>(1);
    factor = Zeros<float>(1);
    found = Zeros<float>(1);
  }
  cuproof_ops_tensor_list get() const {
    return {data.data(), elements.data(), dtype.data(), static_cast<int64_t>(data.size())};
  }

  std::vector<void*> data;
  std::vector<int64_t> elements;
  std::vector<uint8_t> dtype;
  std::vector<float*> accumulators;
  float* norm;
  float* sum_norm;
  float* factor;
  float* found;
};

struct Shared {
  void* ring;
  void* workspace;
  size_t workspace_bytes;
  float* scale;
  int32_t* tracker;
};

void CaptureAll(const List& list, const Shared& shared, cudaStream_t stream) {
  cuproof_ops_grad_accumulate_params accumulate{};
  accumulate.grads = list.get();
  accumulate.accumulators = list.accumulators.data();
  accumulate.out.total_norm = list.sum_norm;
  MUST(cuproof_ops_grad_accumulate(&accumulate, shared.workspace, shared.workspace_bytes, stream) ==
       CUPROOF_OPS_OK);
  cuproof_ops_grad_norm_params norm{};
  norm.grads = list.get();
  norm.out.total_norm = list.norm;
  norm.out.max_norm = 1;
  norm.out.factor = list.factor;
  norm.out.found_inf = list.found;
  MUST(cuproof_ops_grad_norm(&norm, shared.workspace, shared.workspace_bytes, stream) ==
       CUPROOF_OPS_OK);
  cuproof_ops_grad_scale_params scale{};
  scale.grads = list.get();
  scale.factor = list.factor;
  MUST(cuproof_ops_grad_scale(&scale, stream) == CUPROOF_OPS_OK);
  cuproof_ops_nonfinite_guard_params guard{};
  guard.tensors = list.get();
  guard.ring = shared.ring;
  guard.advance_step = 1;
  MUST(cuproof_ops_nonfinite_guard(&guard, shared.workspace, shared.workspace_bytes, stream) ==
       CUPROOF_OPS_OK);
  cuproof_ops_loss_scale_params update{};
  update.scale = shared.scale;
  update.growth_tracker = shared.tracker;
  update.found_inf = list.found;
  update.growth_factor = 2;
  update.backoff_factor = 0.5f;
  update.growth_interval = 1;
  MUST(cuproof_ops_loss_scale_update(&update, stream) == CUPROOF_OPS_OK);
}

size_t CountKernels(cudaGraph_t graph) {
  size_t count = 0;
  CUDA(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  CUDA(cudaGraphGetNodes(graph, nodes.data(), &count));
  for (cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    CUDA(cudaGraphNodeGetType(node, &type));
    Must(type == cudaGraphNodeTypeKernel, "every node is a kernel");
  }
  return count;
}

}  // namespace

int main() {
  setenv("CUDA_MODULE_LOADING", "LAZY", 1);
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("SKIP: no GPU\n");
    return 77;
  }
  MUST(cuproof_ops_prepare(0) == CUPROOF_OPS_OK);

  const List lists[] = {List(3), List(100), List(2000)};
  Shared shared{};
  shared.ring = Zeros<char>(cuproof_ops_guard_ring_bytes(8));
  shared.workspace_bytes = 1 << 20;
  shared.workspace = Zeros<char>(shared.workspace_bytes);
  shared.scale = Zeros<float>(1);
  shared.tracker = Zeros<int32_t>(1);
  const float one = 1;
  CUDA(cudaMemcpy(shared.scale, &one, 4, cudaMemcpyHostToDevice));
  cudaStream_t stream = nullptr;
  CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA(cudaDeviceSynchronize());

  cudaGraph_t graph = nullptr;
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  MUST(cuproof_ops_guard_ring_init(shared.ring, cuproof_ops_guard_ring_bytes(8), 8, stream) ==
       CUPROOF_OPS_OK);
  for (const List& list : lists) CaptureAll(list, shared, stream);
  MUST(cuproof_ops_guard_ring_acknowledge(shared.ring, 0, stream) == CUPROOF_OPS_OK);
  CUDA(cudaStreamEndCapture(stream, &graph));

  const size_t kernels = CountKernels(graph);
  cudaGraphExec_t exec = nullptr;
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphLaunch(exec, stream));
  CUDA(cudaStreamSynchronize(stream));
  for (const List& list : lists) {
    const float expected = std::sqrt(4 * static_cast<float>(list.data.size()));
    Must(std::fabs(Get(list.norm) / expected - 1) < 1e-6f, "norm of the gradients");
    Must(std::fabs(Get(list.sum_norm) / expected - 1) < 1e-6f, "norm of the sums");
    Must(Get(list.found) == 0, "found_inf");
    const float scaled = Get(static_cast<const float*>(list.data[0]));
    Must(std::fabs(scaled * expected - 1) < 1e-5f, "scaled gradient");
  }
  Must(Get(static_cast<const uint64_t*>(shared.ring)) == std::size(lists), "steps of the ring");
  Must(Get(shared.scale) == 8, "loss scale");
  std::printf("OK: %zu kernels captured at once, replayed\n", kernels);
  return 0;
}
