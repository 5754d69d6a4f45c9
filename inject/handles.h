#pragma once
// Ids of functions, streams and contexts.
#include "driver_types.h"
#include "state.h"

namespace cuproof::inject {

/// The id of a function. A handle that was never seen gets one now, without a name.
uint32_t NewFunction(const void* handle, const char* name, uint32_t image, const char* api,
                     uint64_t ns);
inline uint32_t FunctionOf(const void* handle) {
  const uint64_t id = state->map.Find(Kind::kFunction, handle);
  return !Unlikely(id == 0) ? static_cast<uint32_t>(id) : NewFunction(handle, nullptr, 0, "", 0);
}
/// `other` is the same function as `handle`: a CUfunction of a CUkernel.
void AliasFunction(const void* handle, const void* other);

uint32_t NewStream(const void* handle, uint32_t flags, int priority, bool seen);
/// 0 for the default streams.
inline uint32_t StreamOf(const void* handle) {
  if (reinterpret_cast<uintptr_t>(handle) <= kPerThreadStream) return 0;
  const uint64_t id = state->map.Find(Kind::kStream, handle);
  return !Unlikely(id == 0) ? static_cast<uint32_t>(id) : NewStream(handle, 0, 0, true);
}
/// kLegacyStream, kPerThreadStream or 0.
inline uint16_t StreamFlags(const void* handle, bool per_thread) {
  const auto number = reinterpret_cast<uintptr_t>(handle);
  if (!Unlikely(number <= kPerThreadStream)) return 0;
  const bool own = number == kPerThreadStream || (number == 0 && per_thread);
  return own ? trace::kPerThreadStream : trace::kLegacyStream;
}

/// `device` below 0: not known.
uint16_t NewContext(const void* handle, int device, bool primary);
uint16_t ContextOf(const void* handle);
/// The context that is current on this thread from now on.
void EnterContext(const void* handle);
/// The program has asked for the device of the current context.
void LearnDevice(int device);

void Forget(Kind kind, const void* handle);

/// The image that a module or library was loaded from; 0: not known.
inline uint32_t ImageOf(const void* module) {
  return static_cast<uint32_t>(state->map.Find(Kind::kModule, module));
}

}  // namespace cuproof::inject
