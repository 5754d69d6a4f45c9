// Streams, events and captures. What a capture forbids is as an H200 with r580 answered (docs of
// the recorder: docs/trace.md and the table of captures in the measurements).
#include <fmt/format.h>

#include "world.h"

using namespace cuproof::model;

namespace {

bool IsDefault(CUstream stream) {
  return !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

CUresult MakeStream(CUstream* stream, unsigned flags) {
  if (!stream || flags > 1) return CUDA_ERROR_INVALID_VALUE;
  if (!CurrentContext()) return CUDA_ERROR_INVALID_CONTEXT;
  auto made = std::make_unique<Stream>();
  made->flags = flags;
  made->ordinal = CurrentContext()->ordinal;
  *stream = reinterpret_cast<CUstream>(made.get());
  TheWorld().streams[*stream] = std::move(made);
  return CUDA_SUCCESS;
}

CUresult Wait(CUstream stream, const char* name) {
  if (!IsDefault(stream) && !FindStream(stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult refused = RefuseInCapture(name)) return refused;
  return Sticky();
}

CUresult WaitEvent(CUstream stream, CUevent event) {
  const auto found = TheWorld().events.find(event);
  Stream* target = FindStream(stream);
  if (found == TheWorld().events.end()) return CUDA_ERROR_INVALID_HANDLE;
  const std::shared_ptr<Capture> capture = found->second->capture.lock();
  if (!capture || !target) return CUDA_SUCCESS;
  if (!target->capture) {
    target->capture = capture;
    capture->forked.insert(stream);
  } else if (stream == capture->origin) {
    capture->forked.erase(found->second->stream);
  }
  return CUDA_SUCCESS;
}

CUresult BeginCapture(CUstream stream, int mode) {
  Stream* target = FindStream(stream);
  if (!target || mode < 0 || mode > 2) return CUDA_ERROR_INVALID_VALUE;
  if (target->capture) return CUDA_ERROR_INVALID_VALUE;
  target->capture = std::make_shared<Capture>();
  target->capture->mode = mode;
  target->capture->id = ++TheWorld().captures;
  target->capture->origin = stream;
  return CUDA_SUCCESS;
}

CUresult EndCapture(CUstream stream, CUgraph* graph) {
  Stream* target = FindStream(stream);
  if (!target || !graph || !target->capture) return CUDA_ERROR_INVALID_VALUE;
  const std::shared_ptr<Capture> capture = target->capture;
  *graph = nullptr;
  if (capture->origin != stream) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  for (auto& [handle, other] : TheWorld().streams) {
    if (other->capture == capture) other->capture.reset();
  }
  if (!capture->valid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!capture->forked.empty()) return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  *graph = reinterpret_cast<CUgraph>(capture->graph.get());
  TheWorld().graphs[*graph] = std::move(capture->graph);
  return CUDA_SUCCESS;
}

CUresult CaptureInfo(CUstream stream, int* status, uint64_t* id, CUgraph* graph,
                     const CUgraphNode** nodes, size_t* count) {
  const Stream* target = FindStream(stream);
  const Capture* capture = target ? target->capture.get() : nullptr;
  if (status) *status = !capture ? 0 : capture->valid ? 1 : 2;
  if (id) *id = capture ? capture->id : 0;
  if (graph) *graph = capture ? reinterpret_cast<CUgraph>(capture->graph.get()) : nullptr;
  if (nodes) *nodes = nullptr;
  if (count) *count = 0;
  return CUDA_SUCCESS;
}

CUresult RecordEvent(CUevent event, CUstream stream) {
  const auto found = TheWorld().events.find(event);
  if (found == TheWorld().events.end()) return CUDA_ERROR_INVALID_HANDLE;
  const Stream* target = FindStream(stream);
  found->second->capture = target ? target->capture : nullptr;
  found->second->stream = stream;
  return CUDA_SUCCESS;
}

}  // namespace

Stream* cuproof::model::FindStream(CUstream stream) {
  const auto found = TheWorld().streams.find(stream);
  return found == TheWorld().streams.end() ? nullptr : found->second.get();
}

CUresult cuproof::model::EnterStream(CUstream stream, bool per_thread,
                                     std::shared_ptr<Capture>& capture) {
  const bool legacy = stream == CU_STREAM_LEGACY || (!stream && !per_thread);
  if (!IsDefault(stream)) {
    const Stream* found = FindStream(stream);
    if (!found) return CUDA_ERROR_INVALID_HANDLE;
    capture = found->capture;
    if (capture && !capture->valid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    return CUDA_SUCCESS;
  }
  if (!legacy) return CUDA_SUCCESS;
  // Work on the legacy stream waits for every blocking stream, one that is captured among them. A
  // non-blocking one is passed by: the work runs at once and is in no graph.
  for (auto& [handle, other] : TheWorld().streams) {
    if (!other->capture || other->flags == CU_STREAM_NON_BLOCKING) continue;
    other->capture->valid = false;
    Say("the legacy stream cannot be used while a blocking stream is captured");
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  return CUDA_SUCCESS;
}

CUresult cuproof::model::RefuseInCapture(const char* name) {
  for (auto& [handle, stream] : TheWorld().streams) {
    if (!stream->capture || stream->capture->mode != CU_CAPTURE_GLOBAL) continue;
    stream->capture->valid = false;
    Say(fmt::format("{} may not be called while a stream is captured", name));
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  return Call("cuStreamCreate", [&] { return MakeStream(stream, flags); });
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int) {
  return Call("cuStreamCreateWithPriority", [&] { return MakeStream(stream, flags); });
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  return Call("cuStreamDestroy", [&]() -> CUresult {
    return TheWorld().streams.erase(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}
CUresult cuEventCreate(CUevent* event, unsigned int) {
  return Call("cuEventCreate", [&]() -> CUresult {
    if (!event) return CUDA_ERROR_INVALID_VALUE;
    auto made = std::make_unique<Event>();
    *event = reinterpret_cast<CUevent>(made.get());
    TheWorld().events[*event] = std::move(made);
    return CUDA_SUCCESS;
  });
}
CUresult cuEventDestroy_v2(CUevent event) {
  return Call("cuEventDestroy", [&]() -> CUresult {
    return TheWorld().events.erase(event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}
CUresult cuEventQuery(CUevent) {
  return Call("cuEventQuery", [&]() -> CUresult {
    if (const CUresult refused = RefuseInCapture("cuEventQuery")) return refused;
    return Sticky();
  });
}
CUresult cuEventSynchronize(CUevent) {
  return Call("cuEventSynchronize", [&] { return Wait(nullptr, "cuEventSynchronize"); });
}

#define TWIN(name, parameters, body)                        \
  CUresult name parameters {                                \
    return Call(#name, [&]() -> CUresult { return body; }); \
  }                                                         \
  CUresult name##_ptsz parameters {                         \
    return Call(#name, [&]() -> CUresult { return body; }); \
  }
TWIN(cuStreamSynchronize, (CUstream stream), Wait(stream, "cuStreamSynchronize"))
TWIN(cuStreamQuery, (CUstream stream), Wait(stream, "cuStreamQuery"))
TWIN(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int), WaitEvent(stream, event))
TWIN(cuStreamBeginCapture_v2, (CUstream stream, int mode), BeginCapture(stream, mode))
TWIN(cuStreamEndCapture, (CUstream stream, CUgraph* graph), EndCapture(stream, graph))
TWIN(cuStreamIsCapturing, (CUstream stream, int* status),
     CaptureInfo(stream, status, nullptr, nullptr, nullptr, nullptr))
TWIN(cuStreamGetCaptureInfo_v2,
     (CUstream stream, int* status, uint64_t* id, CUgraph* graph, const CUgraphNode** nodes,
      size_t* count),
     CaptureInfo(stream, status, id, graph, nodes, count))
TWIN(cuEventRecord, (CUevent event, CUstream stream), RecordEvent(event, stream))
