// The hooks on the hot path. Each writes one record, calls the driver, and stores the result.
#include "driver_types.h"
#include "errors.h"
#include "events.h"
#include "graphs.h"
#include "handles.h"
#include "hooks.h"
#include "ring.h"

namespace cuproof::inject {
namespace {

using trace::Op;

// A first launch that takes longer has loaded or compiled something.
constexpr uint64_t kSlow = 1'000'000;  // ns

// Why there is more to do when the call has returned.
enum More : uint32_t { kIsFirst = 1, kIsTimed = 2, kIsCaptured = 4, kIsShared = 8 };

// A launch whose record is written, but for the result. In two registers while the driver works.
struct Started {
  trace::Record* record;  // null: nothing is recorded
  uint32_t sequence;
  uint32_t more;
};

// Nanoseconds at which a first launch started; of the thread, because Started has no room for it.
__attribute__((tls_model("initial-exec"))) __thread uint64_t first_started = 0;

uint16_t Saturated(uint32_t number) {
  return number > UINT16_MAX ? UINT16_MAX : static_cast<uint16_t>(number);
}

__attribute__((noinline, cold)) void WriteWide(trace::Record& record, uint32_t grid_x,
                                               uint32_t grid_y, uint32_t grid_z, uint32_t block_x,
                                               uint32_t block_y, uint32_t block_z) {
  const uint32_t wide[6] = {grid_x, grid_y, grid_z, block_x, block_y, block_z};
  for (int i = 0; i < 6; ++i) thread.ring->wide[i] = wide[i];
  for (int i = 0; i < 2; ++i) record.grid_yz[i] = Saturated(wide[i + 1]);
  for (int i = 0; i < 3; ++i) record.block[i] = Saturated(wide[i + 3]);
  record.flags |= trace::kSaturated;
}

// Launches of this function in this ring before.
template <bool kShared>
inline uint64_t CountFunction(uint32_t function) {
  trace::RingHeader* ring = thread.ring;
  if (Unlikely(function - 1 >= trace::kFunctionCounts - 1)) {
    Add<true>(ring->other_functions);
    return 1;
  }
  const uint64_t before = ring->launches[function].load(std::memory_order_relaxed);
  Add<kShared>(ring->launches[function]);
  return before;
}

template <bool kShared>
__attribute__((always_inline)) inline Started StartIn(Op op, bool per_thread, uint16_t flags,
                                                      const void* handle, const void* stream,
                                                      uint32_t grid_x, uint32_t grid_y,
                                                      uint32_t grid_z, uint32_t block_x,
                                                      uint32_t block_y, uint32_t block_z,
                                                      uint32_t shared) {
  const uint64_t clock = Clock();
  const uint32_t function = FunctionOf(handle);
  const uint32_t stream_id = StreamOf(stream);
  uint32_t more = Unlikely(timed) ? uint32_t{kIsTimed} : 0;
  uint32_t capture = 0;
  if (Unlikely(state->captures_live.load(std::memory_order_relaxed) != 0)) {
    capture = CaptureOf(stream, per_thread);
    if (capture != 0) {
      flags |= trace::kCaptured;
      more |= kIsCaptured;
    }
  }
  if (kShared) more |= kIsShared;
  const SharedRingLock lock(kShared);
  const Open open = BeginIn<kShared>(op, clock);
  trace::Record& record = *open.record;
  if (Unlikely(CountFunction<kShared>(function) == 0)) {
    flags |= trace::kFirstLaunch;
    more |= kIsFirst;
    first_started = SlowClock();
  }
  record.flags = flags | StreamFlags(stream, per_thread);
  record.function = function;
  record.stream = stream_id;
  record.grid_x = grid_x;
  record.grid_yz[0] = static_cast<uint16_t>(grid_y);
  record.grid_yz[1] = static_cast<uint16_t>(grid_z);
  record.block[0] = static_cast<uint16_t>(block_x);
  record.block[1] = static_cast<uint16_t>(block_y);
  record.block[2] = static_cast<uint16_t>(block_z);
  record.context = thread.context;
  record.shared = shared;
  record.capture = capture;
  record.aux = 0;
  if (Unlikely((grid_y | grid_z | block_x | block_y | block_z) > UINT16_MAX)) {
    WriteWide(record, grid_x, grid_y, grid_z, block_x, block_y, block_z);
  }
  Publish(open);
  return {open.record, open.sequence, more};
}

__attribute__((noinline, cold)) Started StartSlowly(Op op, bool per_thread, uint16_t flags,
                                                    const void* handle, const void* stream,
                                                    uint32_t grid_x, uint32_t grid_y,
                                                    uint32_t grid_z, uint32_t block_x,
                                                    uint32_t block_y, uint32_t block_z,
                                                    uint32_t shared) {
  if (!Attached()) return {nullptr, 0, 0};
  return StartIn<true>(op, per_thread, flags, handle, stream, grid_x, grid_y, grid_z, block_x,
                       block_y, block_z, shared);
}

__attribute__((always_inline)) inline Started Start(Op op, bool per_thread, uint16_t flags,
                                                    const void* handle, const void* stream,
                                                    uint32_t grid_x, uint32_t grid_y,
                                                    uint32_t grid_z, uint32_t block_x,
                                                    uint32_t block_y, uint32_t block_z,
                                                    uint32_t shared) {
  if (!HasOwnRing()) {
    return StartSlowly(op, per_thread, flags, handle, stream, grid_x, grid_y, grid_z, block_x,
                       block_y, block_z, shared);
  }
  return StartIn<false>(op, per_thread, flags, handle, stream, grid_x, grid_y, grid_z, block_x,
                        block_y, block_z, shared);
}

KernelShape ShapeOf(const trace::Record& record) {
  KernelShape shape = {record.function,
                       {record.grid_x, record.grid_yz[0], record.grid_yz[1]},
                       {record.block[0], record.block[1], record.block[2]},
                       record.shared};
  if ((record.flags & trace::kSaturated) == 0 || thread.shared_ring) return shape;
  for (int i = 0; i < 3; ++i) shape.grid[i] = thread.ring->wide[i];
  for (int i = 0; i < 3; ++i) shape.block[i] = thread.ring->wide[i + 3];
  return shape;
}

void NoteFirstLaunch(uint32_t function, uint64_t ns) {
  if (ns < kSlow) return;
  Event event("first_launch");
  event.Number("function", function).Number("ns", ns);
}

// Stores the result and takes a copy of the record; false if the record is another's by now, as
// after a very long call.
bool FinishRecord(const Started& started, int result, trace::Record& record) {
  const SharedRingLock lock((started.more & kIsShared) != 0);
  const Open open = {started.record, started.sequence};
  if (!Ours(open)) return false;
  Finish(open, result);
  if ((started.more & (kIsFirst | kIsTimed)) != 0) {
    SetDuration(open, Clock() - started.record->clock);
  }
  record = *started.record;
  return true;
}

__attribute__((noinline, cold)) int FinishSlowly(const Started& started, const char* api,
                                                 int result) {
  const uint64_t ns = (started.more & kIsFirst) != 0 ? SlowClock() - first_started : 0;
  trace::Record record;
  if (!FinishRecord(started, result, record)) return result;
  if (ns != 0) NoteFirstLaunch(record.function, ns);
  const KernelShape shape = ShapeOf(record);
  if (result != kSuccess) {
    RecordError({api, result, &shape, nullptr, nullptr, record.stream, true, record.capture, 0});
  } else if ((started.more & kIsCaptured) != 0) {
    AddCaptured(record.capture, kNodeKernel, &shape);
  }
  return result;
}

__attribute__((always_inline)) inline int FinishLaunch(const Started& started, const char* api,
                                                       int result) {
  if (Unlikely((static_cast<uint32_t>(result) | started.more) != 0)) {
    return started.record == nullptr ? result : FinishSlowly(started, api, result);
  }
  if (!Unlikely(started.record == nullptr)) Finish({started.record, started.sequence}, kSuccess);
  return kSuccess;
}

using LaunchKernelCall = int (*)(Handle, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                                 uint32_t, Handle, void**, void**);

template <uint32_t kHook, bool kPerThread>
int LaunchKernel(Handle function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z,
                 uint32_t block_x, uint32_t block_y, uint32_t block_z, uint32_t shared,
                 Handle stream, void** parameters, void** extra) {
  const Started started = Start(Op::kLaunchKernel, kPerThread, 0, function, stream, grid_x, grid_y,
                                grid_z, block_x, block_y, block_z, shared);
  return FinishLaunch(started, "cuLaunchKernel",
                      reinterpret_cast<LaunchKernelCall>(real[kHook])(
                          function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared,
                          stream, parameters, extra));
}

using CooperativeCall = int (*)(Handle, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                                uint32_t, Handle, void**);

template <uint32_t kHook, bool kPerThread>
int LaunchCooperative(Handle function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z,
                      uint32_t block_x, uint32_t block_y, uint32_t block_z, uint32_t shared,
                      Handle stream, void** parameters) {
  const Started started = Start(Op::kLaunchCooperative, kPerThread, trace::kCooperative, function,
                                stream, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared);
  return FinishLaunch(
      started, "cuLaunchCooperativeKernel",
      reinterpret_cast<CooperativeCall>(real[kHook])(function, grid_x, grid_y, grid_z, block_x,
                                                     block_y, block_z, shared, stream, parameters));
}

uint16_t AttributeFlags(const LaunchConfig& config) {
  uint16_t flags = 0;
  for (uint32_t i = 0; i < config.attribute_count && i < 64; ++i) {
    const LaunchAttribute& attribute = config.attributes[i];
    switch (attribute.id) {
      case kAttributeCooperative:
        if (attribute.value[0] != 0) flags |= trace::kCooperative;
        break;
      case kAttributeCluster:
        flags |= trace::kCluster;
        break;
      case kAttributeProgrammaticStream:
      case kAttributeProgrammaticEvent:
        flags |= trace::kProgrammatic;
        break;
      default:
        break;
    }
  }
  return flags;
}

using LaunchExCall = int (*)(const LaunchConfig*, Handle, void**, void**);

template <uint32_t kHook, bool kPerThread>
int LaunchKernelEx(const LaunchConfig* config, Handle function, void** parameters, void** extra) {
  const auto call = reinterpret_cast<LaunchExCall>(real[kHook]);
  if (Unlikely(config == nullptr ||
               (config->attributes == nullptr && config->attribute_count != 0))) {
    return call(config, function, parameters, extra);
  }
  const uint16_t flags = config->attribute_count == 0 ? uint16_t{0} : AttributeFlags(*config);
  const Started started = Start(Op::kLaunchKernelEx, kPerThread, flags, function, config->stream,
                                config->grid[0], config->grid[1], config->grid[2], config->block[0],
                                config->block[1], config->block[2], config->shared);
  return FinishLaunch(started, "cuLaunchKernelEx", call(config, function, parameters, extra));
}

using MultiDeviceCall = int (*)(CooperativeLaunch*, uint32_t, uint32_t);

template <uint32_t kHook>
int LaunchMultiDevice(CooperativeLaunch* launches, uint32_t count, uint32_t flags) {
  const auto call = reinterpret_cast<MultiDeviceCall>(real[kHook]);
  if (launches == nullptr || count == 0) return call(launches, count, flags);
  // One call, and one record: that of the first device's launch.
  const CooperativeLaunch& first = launches[0];
  const Started started =
      Start(Op::kLaunchCooperativeMulti, false, trace::kCooperative, first.function, first.stream,
            first.grid[0], first.grid[1], first.grid[2], first.block[0], first.block[1],
            first.block[2], first.shared);
  return FinishLaunch(started, "cuLaunchCooperativeKernelMultiDevice",
                      call(launches, count, flags));
}

// The forms before CUDA 4.0: the block was set by a call of its own, so it is not known here.
template <uint32_t kHook>
int LaunchOld(Handle function) {
  const Started started =
      Start(Op::kLaunchLegacy, false, 0, function, nullptr, 1, 1, 1, 0, 0, 0, 0);
  return FinishLaunch(started, "cuLaunch",
                      reinterpret_cast<int (*)(Handle)>(real[kHook])(function));
}

template <uint32_t kHook>
int LaunchGrid(Handle function, int width, int height) {
  const Started started =
      Start(Op::kLaunchLegacy, false, 0, function, nullptr, static_cast<uint32_t>(width),
            static_cast<uint32_t>(height), 1, 0, 0, 0, 0);
  return FinishLaunch(
      started, "cuLaunchGrid",
      reinterpret_cast<int (*)(Handle, int, int)>(real[kHook])(function, width, height));
}

template <uint32_t kHook>
int LaunchGridAsync(Handle function, int width, int height, Handle stream) {
  const Started started =
      Start(Op::kLaunchLegacy, false, 0, function, stream, static_cast<uint32_t>(width),
            static_cast<uint32_t>(height), 1, 0, 0, 0, 0);
  return FinishLaunch(started, "cuLaunchGridAsync",
                      reinterpret_cast<int (*)(Handle, int, int, Handle)>(real[kHook])(
                          function, width, height, stream));
}

__attribute__((noinline, cold)) void GraphSlowly(Handle exec, int result, uint32_t stream,
                                                 uint32_t capture) {
  if (result != kSuccess) {
    RecordError({"cuGraphLaunch", result, nullptr, exec, nullptr, stream, true, capture, 0});
  } else {
    // A graph launched into a capture becomes a node with a graph in it.
    AddCaptured(capture, kNodeChild, nullptr);
  }
}

template <uint32_t kHook, bool kPerThread>
int GraphLaunch(Handle exec, Handle stream) {
  const auto call = reinterpret_cast<int (*)(Handle, Handle)>(real[kHook]);
  if (!Attached()) return call(exec, stream);
  const uint64_t clock = Clock();
  const uint32_t graph = ExecId(exec);
  const uint32_t stream_id = StreamOf(stream);
  uint32_t capture = 0;
  if (Unlikely(state->captures_live.load(std::memory_order_relaxed) != 0)) {
    capture = CaptureOf(stream, kPerThread);
  }
  const Open open = BeginCall(Op::kGraphLaunch, clock, StreamFlags(stream, kPerThread), stream_id,
                              capture, graph);
  const int result = call(exec, stream);
  FinishCall(open, result, timed);
  if (Unlikely((static_cast<uint32_t>(result) | capture) != 0)) {
    GraphSlowly(exec, result, stream_id, capture);
  }
  return result;
}

// cudart 13 takes its primary context by a way that shows no device, and then asks for it: 16 times
// for one small layer of PyTorch. So this is short, and listens only once for each context.
template <uint32_t kHook>
int ContextGetDevice(int* device) {
  const int result = reinterpret_cast<int (*)(int*)>(real[kHook])(device);
  if (Unlikely(thread.wants_device) && result == kSuccess && device != nullptr && Attached()) {
    const KeepErrno keep;
    LearnDevice(*device);
  }
  return result;
}

template <typename Function>
Hook Of(const char* name, Function* function) {
  return {name, reinterpret_cast<void*>(function)};
}

}  // namespace

const Hook* LaunchHooks() {
  static const Hook hooks[kLaunchHooks] = {
      Of("cuLaunchKernel", LaunchKernel<0, false>),
      Of("cuLaunchKernel_ptsz", LaunchKernel<1, true>),
      Of("cuLaunchKernelEx", LaunchKernelEx<2, false>),
      Of("cuLaunchKernelEx_ptsz", LaunchKernelEx<3, true>),
      Of("cuLaunchCooperativeKernel", LaunchCooperative<4, false>),
      Of("cuLaunchCooperativeKernel_ptsz", LaunchCooperative<5, true>),
      Of("cuLaunchCooperativeKernelMultiDevice", LaunchMultiDevice<6>),
      Of("cuLaunch", LaunchOld<7>),
      Of("cuLaunchGrid", LaunchGrid<8>),
      Of("cuLaunchGridAsync", LaunchGridAsync<9>),
      Of("cuGraphLaunch", GraphLaunch<10, false>),
      Of("cuGraphLaunch_ptsz", GraphLaunch<11, true>),
      Of("cuCtxGetDevice", ContextGetDevice<12>),
  };
  return hooks;
}

}  // namespace cuproof::inject
