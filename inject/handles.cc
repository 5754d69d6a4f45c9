#include "handles.h"

#include "events.h"
#include "ring.h"

namespace cuproof::inject {

uint32_t NewFunction(const void* handle, const char* name, uint32_t image, const char* api,
                     uint64_t ns) {
  uint32_t id;
  {
    Lock lock;
    // Another thread may have been quicker with a handle that was only seen.
    const auto known = static_cast<uint32_t>(state->map.Find(Kind::kFunction, handle));
    if (known != 0 && name == nullptr) return known;
    id = state->file->functions.fetch_add(1, std::memory_order_relaxed) + 1;
    if (id >= kMaxFunctions || !state->map.Set(Kind::kFunction, handle, id)) return 0;
    state->function[id].image.store(image, std::memory_order_relaxed);
    state->function[id].asked.store(0, std::memory_order_relaxed);
  }
  Event event("function");
  event.Number("id", id);
  if (name != nullptr) event.Text("name", name);
  if (image != 0) event.Number("image", image);
  event.Pointer("handle", handle);
  if (name != nullptr) event.Text("api", api).Number("ns", ns);
  return id;
}

void AliasFunction(const void* handle, const void* other) {
  const uint32_t id = FunctionOf(handle);
  if (id == 0 || state->map.Find(Kind::kFunction, other) == id) return;
  {
    Lock lock;
    if (!state->map.Set(Kind::kFunction, other, id)) return;
  }
  Event event("alias");
  event.Number("function", id).Pointer("handle", other);
}

uint32_t NewStream(const void* handle, uint32_t flags, int priority, bool seen) {
  uint32_t id;
  {
    Lock lock;
    const auto known = static_cast<uint32_t>(state->map.Find(Kind::kStream, handle));
    if (known != 0 && seen) return known;
    id = state->streams.fetch_add(1, std::memory_order_relaxed) + 1;
    if (!state->map.Set(Kind::kStream, handle, id)) return 0;
  }
  Event event("stream");
  event.Number("id", id).Pointer("handle", handle);
  if (seen) {
    event.Flag("seen", true);
  } else {
    event.Number("flags", flags).Signed("priority", priority);
  }
  if (thread.context != 0) event.Number("context", thread.context);
  return id;
}

uint16_t NewContext(const void* handle, int device, bool primary) {
  uint16_t id;
  {
    Lock lock;
    const auto known = static_cast<uint16_t>(state->map.Find(Kind::kContext, handle));
    // A primary context is retained again and again; it stays the same one.
    if (known != 0 && (primary || device < 0)) return known;
    id = static_cast<uint16_t>(state->contexts.fetch_add(1, std::memory_order_relaxed) + 1);
    if (!state->map.Set(Kind::kContext, handle, id)) return 0;
  }
  if (id < kMaxContexts) {
    state->context_device[id].store(static_cast<uint32_t>(device + 1), std::memory_order_relaxed);
  }
  Event event("context");
  event.Number("id", id).Pointer("handle", handle);
  if (device >= 0) event.Signed("device", device);
  event.Flag("primary", primary);
  return id;
}

uint16_t ContextOf(const void* handle) {
  if (handle == nullptr) return 0;
  const auto id = static_cast<uint16_t>(state->map.Find(Kind::kContext, handle));
  return id != 0 ? id : NewContext(handle, -1, false);
}

void EnterContext(const void* handle) {
  const uint16_t id = ContextOf(handle);
  thread.context = id;
  thread.wants_device = id != 0 && id < kMaxContexts &&
                        state->context_device[id].load(std::memory_order_relaxed) == 0;
}

void LearnDevice(int device) {
  thread.wants_device = false;
  const uint16_t id = thread.context;
  if (id == 0 || id >= kMaxContexts || device < 0) return;
  const auto known = static_cast<uint32_t>(device) + 1;
  if (state->context_device[id].exchange(known, std::memory_order_relaxed) == known) return;
  Event event("context");
  event.Number("id", id).Signed("device", device);
}

void Forget(Kind kind, const void* handle) {
  Lock lock;
  state->map.Set(kind, handle, 0);
}

}  // namespace cuproof::inject
