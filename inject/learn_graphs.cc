// What calls say about captures and graphs.
#include "call.h"
#include "events.h"
#include "graphs.h"
#include "handles.h"

namespace cuproof::inject {

// ---- Captures.

static void CaptureBegun(Call& call, int mode, const void* graph) {
  const uint32_t capture = state->captures.fetch_add(1, std::memory_order_relaxed) + 1;
  BeginCapture(CaptureKey(call.Argument(0), PerThread(call)), capture, graph);
  call.capture = capture;
  Event event("capture");
  event.Number("id", capture)
      .Number("stream", static_cast<uint32_t>(state->map.Find(Kind::kStream, call.Argument(0))));
  event.Signed("mode", mode);
}
void AfterBeginCaptureV1(Call& call) { CaptureBegun(call, 0, nullptr); }
void AfterBeginCapture(Call& call) { CaptureBegun(call, call.Argument<int>(1), nullptr); }
void AfterBeginCaptureToGraph(Call& call) {
  CaptureBegun(call, call.Argument<int>(5), call.Argument(1));
}

// After failure, too: an invalidated capture ends with an error and no graph.
void AfterEndCapture(Call& call) {
  const void* graph = call.result == kSuccess ? call.Out(1) : nullptr;
  const uint32_t capture = EndCapture(CaptureKey(call.Argument(0), PerThread(call)), graph);
  if (capture == 0) return;
  Event event("capture");
  event.Number("id", capture).Flag("end", true).Signed("result", call.result);
  if (graph != nullptr) event.Pointer("graph", graph);
}

constexpr uint32_t kExternal = 1;  // CU_EVENT_RECORD_EXTERNAL, CU_EVENT_WAIT_EXTERNAL

static void EventRecorded(Call& call, uint32_t flags) {
  if (state->captures_live.load(std::memory_order_relaxed) == 0) return;
  const uint32_t capture = CaptureOf(call.Argument(1), PerThread(call));
  if (capture != 0 && (flags & kExternal) != 0) {
    AddCaptured(capture, kNodeEventRecord, nullptr);
    return;
  }
  Lock lock;
  state->map.Set(Kind::kEventCapture, call.Argument(0), capture);
}
void AfterEventRecord(Call& call) { EventRecorded(call, 0); }
void AfterEventRecordFlags(Call& call) { EventRecorded(call, call.Argument<uint32_t>(2)); }

void AfterStreamWait(Call& call) {
  if (state->captures_live.load(std::memory_order_relaxed) == 0) return;
  if ((call.Argument<uint32_t>(2) & kExternal) != 0) {
    const uint32_t capture = CaptureOf(call.Argument(0), PerThread(call));
    if (capture != 0) AddCaptured(capture, kNodeEventWait, nullptr);
    return;
  }
  const uint32_t capture = CaptureOfEvent(call.Argument(1));
  if (capture != 0) JoinCapture(CaptureKey(call.Argument(0), PerThread(call)), capture);
}

// ---- Graphs.

void AfterGraphCreate(Call& call) { NewGraph(call.Out(0)); }
void AfterGraphDestroy(Call& call) { DropGraph(call.Argument(0)); }
void AfterDestroyNode(Call&) { SpoilGraphs(); }
void AfterGraphClone(Call& call) { CloneGraph(call.Argument(1), call.Out(0)); }

static KernelShape ShapeOf(const KernelNode& node, const void* kernel) {
  return {FunctionOf(node.function != nullptr ? node.function : kernel),
          {node.grid[0], node.grid[1], node.grid[2]},
          {node.block[0], node.block[1], node.block[2]},
          node.shared};
}

void AfterAddKernelNodeV1(Call& call) {
  const auto* node = call.Argument<const KernelNode*>(4);
  const KernelShape shape = ShapeOf(*node, nullptr);
  AddToGraph(call.Argument(1), kNodeKernel, &shape);
}
void AfterAddKernelNode(Call& call) {
  const auto* node = call.Argument<const KernelNodeV2*>(4);
  const KernelShape shape = ShapeOf(node->node, node->kernel);
  AddToGraph(call.Argument(1), kNodeKernel, &shape);
}
static void AddedNode(Call& call, const GraphNode* node) {
  if (node->type != kNodeKernel) {
    AddToGraph(call.Argument(1), static_cast<NodeType>(node->type), nullptr);
    return;
  }
  const KernelShape shape = ShapeOf(node->kernel.node, node->kernel.kernel);
  AddToGraph(call.Argument(1), kNodeKernel, &shape);
}
void AfterAddNodeV1(Call& call) { AddedNode(call, call.Argument<const GraphNode*>(4)); }
void AfterAddNode(Call& call) { AddedNode(call, call.Argument<const GraphNode*>(5)); }
void AfterAddNodeOf(Call& call, NodeType type) { AddToGraph(call.Argument(1), type, nullptr); }

void AfterInstantiate(Call& call) {
  const void* graph = call.Argument(1);
  const void* exec = call.result == kSuccess ? call.Out(0) : nullptr;
  const uint32_t id = exec == nullptr ? 0 : NewExec(exec, graph);
  Event event("graph");
  event.Number("id", id).Text("api", call.hook->name);
  if (exec != nullptr) event.Pointer("handle", exec);
  event.Pointer("graph", graph).Signed("result", call.result).Number("ns", call.ns);
  DescribeGraph(event, ShadowOfGraph(graph), call.result != kSuccess);
}
void AfterExecUpdate(Call& call) { UpdateExec(call.Argument(0), call.Argument(1)); }
void AfterExecDestroy(Call& call) { DropExec(call.Argument(0)); }

}  // namespace cuproof::inject
