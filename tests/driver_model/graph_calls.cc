// Graphs.
#include <fmt/format.h>

#include <algorithm>

#include "world.h"

using namespace cuproof::model;

namespace {

constexpr int kKernelNode = 0;
constexpr int kMemsetNode = 2;
constexpr int kHostNode = 3;
constexpr int kChildNode = 4;
constexpr int kEmptyNode = 5;

Graph* Find(CUgraph graph) {
  for (auto& [handle, stream] : TheWorld().streams) {  // one that is being captured
    if (stream->capture && stream->capture->graph.get() == reinterpret_cast<Graph*>(graph))
      return stream->capture->graph.get();
  }
  const auto found = TheWorld().graphs.find(graph);
  return found == TheWorld().graphs.end() ? nullptr : found->second.get();
}

std::unique_ptr<Graph> Copy(const Graph& graph) {
  auto copy = std::make_unique<Graph>();
  for (const auto& node : graph.nodes) {
    auto twin = std::make_unique<Node>(*node);
    twin->graph = copy.get();
    if (node->child) twin->child = Copy(*node->child);
    copy->nodes.push_back(std::move(twin));
  }
  return copy;
}

CUresult Keep(CUgraph* handle, std::unique_ptr<Graph> graph) {
  *handle = reinterpret_cast<CUgraph>(graph.get());
  TheWorld().graphs[*handle] = std::move(graph);
  return CUDA_SUCCESS;
}

CUresult Add(CUgraphNode* handle, CUgraph graph, Node node) {
  Graph* target = Find(graph);
  if (!target || !handle) return CUDA_ERROR_INVALID_VALUE;
  node.graph = target;
  auto made = std::make_unique<Node>(std::move(node));
  *handle = reinterpret_cast<CUgraphNode>(made.get());
  target->nodes.push_back(std::move(made));
  return CUDA_SUCCESS;
}

CUresult CheckNodes(const std::vector<Node>& nodes) {
  for (const Node& node : nodes) {
    if (node.type != kKernelNode) continue;
    const CUDA_KERNEL_NODE_PARAMS& p = node.kernel;
    void* kernel = p.func ? static_cast<void*>(p.func) : p.kern;
    if (!TheWorld().kernels.count(kernel)) return CUDA_ERROR_INVALID_HANDLE;
    const CUlaunchConfig config = {
        p.gridDimX,  p.gridDimY,       p.gridDimZ, p.blockDimX, p.blockDimY,
        p.blockDimZ, p.sharedMemBytes, nullptr,    nullptr,     0};
    if (const CUresult failed = CheckLaunch(*static_cast<Kernel*>(kernel), config)) return failed;
  }
  return CUDA_SUCCESS;
}

void Flatten(const Graph& graph, std::vector<Node>& nodes) {
  for (const auto& node : graph.nodes) {
    nodes.push_back(*node);
    if (node->child) Flatten(*node->child, nodes);
  }
}

CUresult Instantiate(CUgraphExec* exec, CUgraph graph, CUgraphNode* failed_node) {
  const Graph* source = Find(graph);
  if (!source || !exec) return CUDA_ERROR_INVALID_VALUE;
  if (failed_node) *failed_node = nullptr;
  auto made = std::make_unique<Exec>();
  Flatten(*source, made->nodes);
  if (!TheWorld().check_at_launch) {
    if (const CUresult failed = CheckNodes(made->nodes)) return failed;
  }
  *exec = reinterpret_cast<CUgraphExec>(made.get());
  TheWorld().execs[*exec] = std::move(made);
  return CUDA_SUCCESS;
}

CUresult Launch(CUgraphExec exec, CUstream stream, bool per_thread) {
  const auto found = TheWorld().execs.find(exec);
  if (found == TheWorld().execs.end()) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult sticky = Sticky()) return sticky;
  if (const CUresult failed = CheckNodes(found->second->nodes)) return failed;
  std::shared_ptr<Capture> capture;
  if (const CUresult refused = EnterStream(stream, per_thread, capture)) return refused;
  if (!capture) return CUDA_SUCCESS;
  Node node;
  node.type = kChildNode;
  CUgraphNode handle = nullptr;
  return Add(&handle, reinterpret_cast<CUgraph>(capture->graph.get()), node);
}

}  // namespace

CUresult cuGraphCreate(CUgraph* graph, unsigned int flags) {
  return Call("cuGraphCreate", [&]() -> CUresult {
    if (!graph || flags) return CUDA_ERROR_INVALID_VALUE;
    return Keep(graph, std::make_unique<Graph>());
  });
}
CUresult cuGraphDestroy(CUgraph graph) {
  return Call("cuGraphDestroy", [&]() -> CUresult {
    return TheWorld().graphs.erase(graph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}
CUresult cuGraphClone(CUgraph* clone, CUgraph graph) {
  return Call("cuGraphClone", [&]() -> CUresult {
    const Graph* source = Find(graph);
    if (!source || !clone) return CUDA_ERROR_INVALID_VALUE;
    return Keep(clone, Copy(*source));
  });
}
CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode*, size_t,
                                 const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return Call("cuGraphAddKernelNode", [&]() -> CUresult {
    if (!parameters) return CUDA_ERROR_INVALID_VALUE;
    Node made;
    made.type = kKernelNode;
    made.kernel = *parameters;
    return Add(node, graph, std::move(made));
  });
}
CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode*, size_t) {
  return Call("cuGraphAddEmptyNode", [&] {
    Node made;
    made.type = kEmptyNode;
    return Add(node, graph, std::move(made));
  });
}
CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode*, size_t,
                            const CUDA_HOST_NODE_PARAMS*) {
  return Call("cuGraphAddHostNode", [&] {
    Node made;
    made.type = kHostNode;
    return Add(node, graph, std::move(made));
  });
}
CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode*, size_t,
                              const CUDA_MEMSET_NODE_PARAMS*, CUcontext) {
  return Call("cuGraphAddMemsetNode", [&] {
    Node made;
    made.type = kMemsetNode;
    return Add(node, graph, std::move(made));
  });
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode*, size_t,
                                  CUgraph child) {
  return Call("cuGraphAddChildGraphNode", [&]() -> CUresult {
    const Graph* source = Find(child);
    if (!source) return CUDA_ERROR_INVALID_VALUE;
    Node made;
    made.type = kChildNode;
    made.child = Copy(*source);
    return Add(node, graph, std::move(made));
  });
}
CUresult cuGraphDestroyNode(CUgraphNode node) {
  return Call("cuGraphDestroyNode", [&]() -> CUresult {
    for (auto& [handle, graph] : TheWorld().graphs) {
      const auto found = std::find_if(
          graph->nodes.begin(), graph->nodes.end(),
          [&](const auto& other) { return other.get() == reinterpret_cast<Node*>(node); });
      if (found == graph->nodes.end()) continue;
      graph->nodes.erase(found);
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
  });
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return Call("cuGraphGetNodes", [&]() -> CUresult {
    const Graph* source = Find(graph);
    if (!source || !count) return CUDA_ERROR_INVALID_VALUE;
    if (nodes) {
      const size_t most = std::min(*count, source->nodes.size());
      for (size_t i = 0; i < most; ++i)
        nodes[i] = reinterpret_cast<CUgraphNode>(source->nodes[i].get());
    }
    *count = source->nodes.size();
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphNodeGetType(CUgraphNode node, int* type) {
  return Call("cuGraphNodeGetType", [&]() -> CUresult {
    if (!node || !type) return CUDA_ERROR_INVALID_VALUE;
    *type = reinterpret_cast<Node*>(node)->type;
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long) {
  return Call("cuGraphInstantiateWithFlags", [&] { return Instantiate(exec, graph, nullptr); });
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  return Call("cuGraphInstantiateWithParams", [&] {
    return Instantiate(exec, graph, parameters ? &parameters->hErrNode_out : nullptr);
  });
}
CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec* exec, CUgraph graph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  return cuGraphInstantiateWithParams(exec, graph, parameters);
}
CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo*) {
  return Call("cuGraphExecUpdate", [&]() -> CUresult {
    const auto found = TheWorld().execs.find(exec);
    const Graph* source = Find(graph);
    if (found == TheWorld().execs.end() || !source) return CUDA_ERROR_INVALID_VALUE;
    std::vector<Node> nodes;
    Flatten(*source, nodes);
    if (nodes.size() != found->second->nodes.size()) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    found->second->nodes = std::move(nodes);
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return Call("cuGraphExecDestroy", [&]() -> CUresult {
    return TheWorld().execs.erase(exec) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return Call("cuGraphLaunch", [&] { return Launch(exec, stream, false); });
}
CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream) {
  return Call("cuGraphLaunch", [&] { return Launch(exec, stream, true); });
}
