#pragma once
// Shadows of graphs: what was put into them, counted as it happened. Nothing is asked of the
// driver: a query inside a capture can invalidate it.
#include "driver_types.h"
#include "state.h"

namespace cuproof::inject {

struct KernelShape {
  uint32_t function;
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared;
};

enum Origin : uint8_t { kFromNothing = 0, kFromCapture = 1, kFromCalls = 2 };  // a set of bits

inline constexpr uint32_t kNodeKinds = 16;
inline constexpr uint32_t kMaxKernels = 1U << 16;  // kept of a graph, to find one that failed

/// Of a CUgraph, a capture or a CUgraphExec. In malloc's memory; under State::lock.
struct GraphShadow {
  uint32_t id;  // of an exec
  uint32_t references;
  uint8_t origin;
  bool complete;
  uint32_t counts[kNodeKinds];
  uint32_t kernel_count;
  uint32_t kernel_room;
  KernelShape* kernels;
};

/// The capture that takes work of this stream, 0: none. Only worth a call while captures_live is
/// not 0.
uint32_t CaptureOf(const void* stream, bool per_thread);
uint32_t CaptureOfEvent(const void* event);
/// The handle under which a stream's capture is kept: default streams by thread.
const void* CaptureKey(const void* stream, bool per_thread);

void BeginCapture(const void* key, uint32_t capture, const void* graph);
/// Returns the capture's id, 0 if it was not known; `graph` (null: the capture failed) takes its
/// nodes.
uint32_t EndCapture(const void* key, const void* graph);
/// The stream takes part in the capture from now on, as after a wait for one of its events.
void JoinCapture(const void* key, uint32_t capture);

void AddCaptured(uint32_t capture, NodeType type, const KernelShape* kernel);
void AddToGraph(const void* graph, NodeType type, const KernelShape* kernel);
void NewGraph(const void* graph);
void CloneGraph(const void* from, const void* to);
void DropGraph(const void* graph);
/// A node was taken out of some graph: no count is sure from now on.
void SpoilGraphs();

/// A shadow of the exec made from `graph`; the id it got, 0 if there is no memory for it.
uint32_t NewExec(const void* exec, const void* graph);
void UpdateExec(const void* exec, const void* graph);
void DropExec(const void* exec);
uint32_t ExecId(const void* exec);

class Event;
/// Adds `origin`, `nodes` and `complete` of the graph to an event, and its kernels at an error. The
/// event holds the lock.
void DescribeGraph(Event& event, const GraphShadow* shadow, bool with_kernels);
/// At most `room` different functions of a graph's kernels; how many there are.
uint32_t FunctionsOf(const void* exec, const void* graph, uint32_t* functions, uint32_t room);
const GraphShadow* ShadowOfGraph(const void* graph);
const GraphShadow* ShadowOfExec(const void* exec);

}  // namespace cuproof::inject
