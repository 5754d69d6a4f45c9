#include "launch.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace cuproof::ops::test {
namespace {

std::string AskForGpu() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return std::string("no GPU: ") + cudaGetErrorString(error);
  return count == 0 ? "no GPU" : "";
}

/// Sanitizers are slow: run_on_gpu.sh sets a limit for them.
int64_t MostElements() {
  const char* text = std::getenv("CUPROOF_OPS_TESTS_MAX_ELEMENTS");
  return text == nullptr ? INT64_MAX : std::atoll(text);
}

bool RawWorkspace() { return std::getenv("CUPROOF_OPS_TESTS_RAW_WORKSPACE") != nullptr; }

std::vector<cudaGraphNode_t> NodesOf(cudaGraph_t graph) {
  size_t count = 0;
  CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  if (count != 0) CUDA_CHECK(cudaGraphGetNodes(graph, nodes.data(), &count));
  return nodes;
}

cudaGraph_t Capture(const Call& call, cuproof_ops_status* status) {
  cudaGraph_t graph = nullptr;
  CUDA_CHECK(cudaStreamBeginCapture(TestStream(), cudaStreamCaptureModeGlobal));
  *status = call(TestStream());
  CUDA_CHECK(cudaStreamEndCapture(TestStream(), &graph));
  return graph;
}

}  // namespace

void CheckCudaCall(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + call + ": " +
                           cudaGetErrorString(error));
}

const std::string& NoGpuReason() {
  static const std::string reason = [] {
    std::string asked = AskForGpu();
    // Once, where each test's own line is one of a thousand.
    if (!asked.empty()) std::printf("SKIP: %s\n", asked.c_str());
    return asked;
  }();
  return reason;
}

void GpuTest::SetUp() {
  if (!NoGpuReason().empty()) GTEST_SKIP() << NoGpuReason();
}

void GpuCaseTest::SetUp() {
  if (!NoGpuReason().empty()) GTEST_SKIP() << NoGpuReason();
  if (GetParam().elements() > MostElements()) GTEST_SKIP() << "more elements than asked for";
}

cudaStream_t TestStream() {
  static cudaStream_t stream = [] {
    cudaStream_t made = nullptr;
    CUDA_CHECK(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
    return made;
  }();
  return stream;
}

Graph::Graph(const Call& call) {
  cuproof_ops_status status = CUPROOF_OPS_OK;
  graph_ = Capture(call, &status);
  EXPECT_EQ(status, CUPROOF_OPS_OK) << cuproof_ops_last_error();
  const auto nodes = NodesOf(graph_);
  nodes_ = nodes.size();
  for (cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    CUDA_CHECK(cudaGraphNodeGetType(node, &type));
    EXPECT_EQ(type, cudaGraphNodeTypeKernel);
  }
  CUDA_CHECK(cudaGraphInstantiate(&exec_, graph_, 0));
}

Graph::~Graph() {
  if (exec_ != nullptr) (void)cudaGraphExecDestroy(exec_);
  if (graph_ != nullptr) (void)cudaGraphDestroy(graph_);
}

void Graph::Replay() const {
  CUDA_CHECK(cudaGraphLaunch(exec_, TestStream()));
  CUDA_CHECK(cudaStreamSynchronize(TestStream()));
}

void RunCall(Launch launch, const Call& call) {
  if (launch == Launch::kGraph) {
    Graph(call).Replay();
    return;
  }
  EXPECT_EQ(call(TestStream()), CUPROOF_OPS_OK) << cuproof_ops_last_error();
  CUDA_CHECK(cudaStreamSynchronize(TestStream()));
}

size_t CountNodes(const Call& call) {
  cuproof_ops_status status = CUPROOF_OPS_OK;
  cudaGraph_t graph = Capture(call, &status);
  const size_t count = NodesOf(graph).size();
  CUDA_CHECK(cudaGraphDestroy(graph));
  return count;
}

ListArrays Place(const std::vector<HostTensor>& tensors, size_t offset, DeviceImage* image) {
  ListArrays arrays;
  for (const HostTensor& tensor : tensors) {
    const auto size = static_cast<size_t>(SizeOf(tensor.dtype));
    image->Add(tensor.bytes.data(), tensor.bytes.size(), (offset + size - 1) / size * size);
    arrays.elements.push_back(tensor.elements);
    arrays.dtype.push_back(static_cast<uint8_t>(tensor.dtype));
    arrays.data.push_back(nullptr);
  }
  return arrays;
}

void SetPointers(const DeviceImage& image, int first_part, ListArrays* arrays) {
  for (size_t t = 0; t < arrays->data.size(); ++t) {
    // An empty tensor may have none.
    arrays->data[t] =
        arrays->elements[t] == 0 ? nullptr : image.at(first_part + static_cast<int>(t));
  }
}

Workspace::Workspace(size_t bytes) : bytes_(bytes) {
  if (RawWorkspace()) return;
  image_.AddFilled(bytes, 0xff);
  image_.Upload();
}

Workspace::~Workspace() { (void)cudaFree(raw_); }

void Workspace::Poison() {
  if (!RawWorkspace()) {
    image_.Restore();
    return;
  }
  CUDA_CHECK(cudaFree(raw_));
  raw_ = nullptr;
  CUDA_CHECK(cudaMalloc(&raw_, bytes_));
}

void* Workspace::data() const { return RawWorkspace() ? raw_ : image_.at(0); }

testing::AssertionResult Workspace::GuardsAreIntact() const {
  return RawWorkspace() ? testing::AssertionSuccess() : image_.GuardsAreIntact();
}

}  // namespace cuproof::ops::test
