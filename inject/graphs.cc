#include "graphs.h"

#include <stdlib.h>
#include <string.h>

#include "events.h"

namespace cuproof::inject {
namespace {

const char* const kNodeWords[kNodeKinds] = {
    "kernel", "memcpy", "memset",    "host",     "child", "empty", "event_wait", "event_record",
    "other",  "other",  "mem_alloc", "mem_free", "other", "other", "other",      "other"};

GraphShadow* NewShadow() {
  auto* shadow = static_cast<GraphShadow*>(calloc(1, sizeof(GraphShadow)));
  if (shadow == nullptr) return nullptr;
  shadow->references = 1;
  shadow->complete = true;
  return shadow;
}

void Release(GraphShadow* shadow) {
  if (shadow == nullptr || --shadow->references != 0) return;
  free(shadow->kernels);
  free(shadow);
}

GraphShadow* Find(Kind kind, const void* handle) {
  return static_cast<GraphShadow*>(AsHandle(state->map.Find(kind, handle)));
}

// Takes over one reference.
void Put(Kind kind, const void* handle, GraphShadow* shadow) {
  Release(Find(kind, handle));
  if (!state->map.Set(kind, handle, reinterpret_cast<uintptr_t>(shadow))) Release(shadow);
}

void AddKernel(GraphShadow* shadow, const KernelShape& kernel) {
  if (shadow->kernel_count >= kMaxKernels) return;
  if (shadow->kernel_count == shadow->kernel_room) {
    const uint32_t room = shadow->kernel_room == 0 ? 16 : shadow->kernel_room * 2;
    auto* larger = static_cast<KernelShape*>(realloc(shadow->kernels, room * sizeof(KernelShape)));
    if (larger == nullptr) return;
    shadow->kernels = larger;
    shadow->kernel_room = room;
  }
  shadow->kernels[shadow->kernel_count++] = kernel;
}

void AddNode(GraphShadow* shadow, Origin origin, NodeType type, const KernelShape* kernel) {
  shadow->origin |= origin;
  ++shadow->counts[type < kNodeKinds ? type : kNodeKinds - 1];
  if (kernel != nullptr) AddKernel(shadow, *kernel);
}

void Append(GraphShadow* to, const GraphShadow* from) {
  to->origin |= from->origin;
  to->complete = to->complete && from->complete;
  for (uint32_t i = 0; i < kNodeKinds; ++i) to->counts[i] += from->counts[i];
  for (uint32_t i = 0; i < from->kernel_count; ++i) AddKernel(to, from->kernels[i]);
}

GraphShadow* Copy(const GraphShadow* from) {
  GraphShadow* copy = NewShadow();
  if (copy == nullptr) return nullptr;
  Append(copy, from);
  return copy;
}

// Captures stand in the map of graphs under small numbers, which are no addresses.
const void* CaptureHandle(uint32_t capture) {
  return AsHandle(uintptr_t{1} + capture % kMaxCaptures);
}

uint32_t Live(uint64_t found) {
  const auto capture = static_cast<uint32_t>(found);
  if (capture == 0) return 0;
  return state->capture_live[capture % kMaxCaptures].load(std::memory_order_acquire) == capture
             ? capture
             : 0;
}

}  // namespace

const void* CaptureKey(const void* stream, bool per_thread) {
  const auto handle = reinterpret_cast<uintptr_t>(stream);
  if (handle == kPerThreadStream || (handle == 0 && per_thread)) {
    // Below 2^32, so never the address of a stream.
    return AsHandle(thread.tid);
  }
  return stream;
}

uint32_t CaptureOf(const void* stream, bool per_thread) {
  return Live(state->map.Find(Kind::kCapture, CaptureKey(stream, per_thread)));
}

uint32_t CaptureOfEvent(const void* event) {
  return Live(state->map.Find(Kind::kEventCapture, event));
}

void BeginCapture(const void* key, uint32_t capture, const void* graph) {
  Lock lock;
  GraphShadow* shadow = graph == nullptr ? nullptr : Find(Kind::kGraph, graph);
  // Capture into a graph of the program's: what is in it already counts.
  if (shadow != nullptr) {
    ++shadow->references;
  } else {
    shadow = NewShadow();
    if (shadow == nullptr) return;
    shadow->complete = graph == nullptr;
  }
  Put(Kind::kGraph, CaptureHandle(capture), shadow);
  state->map.Set(Kind::kCapture, key, capture);
  state->capture_live[capture % kMaxCaptures].store(capture, std::memory_order_release);
  state->captures_live.fetch_add(1, std::memory_order_relaxed);
}

void JoinCapture(const void* key, uint32_t capture) {
  Lock lock;
  state->map.Set(Kind::kCapture, key, capture);
}

uint32_t EndCapture(const void* key, const void* graph) {
  Lock lock;
  const uint32_t capture = Live(state->map.Find(Kind::kCapture, key));
  if (capture == 0) return 0;
  state->capture_live[capture % kMaxCaptures].store(0, std::memory_order_release);
  state->captures_live.fetch_sub(1, std::memory_order_relaxed);
  GraphShadow* captured = Find(Kind::kGraph, CaptureHandle(capture));
  if (captured != nullptr && graph != nullptr) {
    GraphShadow* known = Find(Kind::kGraph, graph);
    if (known == nullptr) {
      ++captured->references;
      Put(Kind::kGraph, graph, captured);
    } else if (known != captured) {
      Append(known, captured);
    }
  }
  Put(Kind::kGraph, CaptureHandle(capture), nullptr);
  return capture;
}

void AddCaptured(uint32_t capture, NodeType type, const KernelShape* kernel) {
  Lock lock;
  GraphShadow* shadow = Find(Kind::kGraph, CaptureHandle(capture));
  if (shadow != nullptr) AddNode(shadow, kFromCapture, type, kernel);
}

void AddToGraph(const void* graph, NodeType type, const KernelShape* kernel) {
  Lock lock;
  GraphShadow* shadow = Find(Kind::kGraph, graph);
  if (shadow == nullptr) {
    // A graph that was not made before our eyes: one being captured, or a child's.
    shadow = NewShadow();
    if (shadow == nullptr) return;
    shadow->complete = false;
    Put(Kind::kGraph, graph, shadow);
    shadow = Find(Kind::kGraph, graph);
    if (shadow == nullptr) return;
  }
  AddNode(shadow, kFromCalls, type, kernel);
}

void NewGraph(const void* graph) {
  Lock lock;
  GraphShadow* shadow = NewShadow();
  if (shadow == nullptr) return;
  shadow->origin = kFromCalls;
  Put(Kind::kGraph, graph, shadow);
}

void CloneGraph(const void* from, const void* to) {
  Lock lock;
  const GraphShadow* shadow = Find(Kind::kGraph, from);
  GraphShadow* copy = shadow == nullptr ? nullptr : Copy(shadow);
  Put(Kind::kGraph, to, copy);
}

void DropGraph(const void* graph) {
  Lock lock;
  Put(Kind::kGraph, graph, nullptr);
}

void SpoilGraphs() { state->nodes_destroyed.store(1, std::memory_order_relaxed); }

uint32_t NewExec(const void* exec, const void* graph) {
  Lock lock;
  const GraphShadow* shadow = Find(Kind::kGraph, graph);
  GraphShadow* copy = shadow == nullptr ? NewShadow() : Copy(shadow);
  if (copy == nullptr) return 0;
  if (shadow == nullptr) copy->complete = false;
  copy->id = state->graphs.fetch_add(1, std::memory_order_relaxed) + 1;
  const uint32_t id = copy->id;
  Put(Kind::kExec, exec, copy);
  state->map.Set(Kind::kExecId, exec, id);
  return id;
}

void UpdateExec(const void* exec, const void* graph) {
  Lock lock;
  const GraphShadow* old = Find(Kind::kExec, exec);
  const GraphShadow* shadow = Find(Kind::kGraph, graph);
  if (old == nullptr || shadow == nullptr) return;
  GraphShadow* copy = Copy(shadow);
  if (copy == nullptr) return;
  copy->id = old->id;
  Put(Kind::kExec, exec, copy);
}

void DropExec(const void* exec) {
  Lock lock;
  Put(Kind::kExec, exec, nullptr);
  state->map.Set(Kind::kExecId, exec, 0);
}

uint32_t ExecId(const void* exec) {
  return static_cast<uint32_t>(state->map.Find(Kind::kExecId, exec));
}

const GraphShadow* ShadowOfGraph(const void* graph) { return Find(Kind::kGraph, graph); }
const GraphShadow* ShadowOfExec(const void* exec) { return Find(Kind::kExec, exec); }

uint32_t FunctionsOf(const void* exec, const void* graph, uint32_t* functions, uint32_t room) {
  Lock lock;
  const GraphShadow* shadow = exec != nullptr ? Find(Kind::kExec, exec) : nullptr;
  if (shadow == nullptr && graph != nullptr) shadow = Find(Kind::kGraph, graph);
  uint32_t count = 0;
  for (uint32_t i = 0; shadow != nullptr && i < shadow->kernel_count && count < room; ++i) {
    bool known = false;
    for (uint32_t j = 0; j < count; ++j)
      known = known || functions[j] == shadow->kernels[i].function;
    if (!known) functions[count++] = shadow->kernels[i].function;
  }
  return count;
}

void DescribeGraph(Event& event, const GraphShadow* shadow, bool with_kernels) {
  static const char* const kOrigins[4] = {"unknown", "capture", "calls", "mixed"};
  event.Text("origin", shadow == nullptr ? "unknown" : kOrigins[shadow->origin & 3]);
  event.Flag("complete", shadow != nullptr && shadow->complete &&
                             state->nodes_destroyed.load(std::memory_order_relaxed) == 0);
  event.OpenObject("nodes");
  uint32_t others = 0;
  for (uint32_t i = 0; shadow != nullptr && i < kNodeKinds; ++i) {
    if (shadow->counts[i] == 0) continue;
    if (strcmp(kNodeWords[i], "other") == 0) {
      others += shadow->counts[i];
    } else {
      event.Number(kNodeWords[i], shadow->counts[i]);
    }
  }
  if (others != 0) event.Number("other", others);
  event.CloseObject();
  if (!with_kernels) return;
  // Kernels of one function and shape fail or run together: each shape once.
  event.OpenList("kernels");
  for (uint32_t i = 0; shadow != nullptr && i < shadow->kernel_count && i < 4096; ++i) {
    const KernelShape& kernel = shadow->kernels[i];
    bool again = false;
    for (uint32_t j = i > 64 ? i - 64 : 0; j < i && !again; ++j) {
      again = memcmp(&shadow->kernels[j], &kernel, sizeof kernel) == 0;
    }
    if (again) continue;
    event.OpenItem()
        .Number("function", kernel.function)
        .Triple("grid", kernel.grid)
        .Triple("block", kernel.block)
        .Number("shared", kernel.shared)
        .CloseObject();
  }
  event.CloseList();
}

}  // namespace cuproof::inject
