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

struct Launch {
  Op op;
  bool per_thread;  // the entry with _ptsz
  uint16_t flags;
  const void* function;
  const void* stream;
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared;
};

// A first launch that takes longer has loaded or compiled something.
constexpr uint64_t kSlow = 1'000'000;  // ns

uint16_t Saturated(uint32_t number) {
  return number > UINT16_MAX ? UINT16_MAX : static_cast<uint16_t>(number);
}

inline void WriteShape(const Launch& launch, trace::Record& record, uint16_t& flags) {
  record.grid_x = launch.grid[0];
  record.grid_yz[0] = static_cast<uint16_t>(launch.grid[1]);
  record.grid_yz[1] = static_cast<uint16_t>(launch.grid[2]);
  record.block[0] = static_cast<uint16_t>(launch.block[0]);
  record.block[1] = static_cast<uint16_t>(launch.block[1]);
  record.block[2] = static_cast<uint16_t>(launch.block[2]);
  const uint32_t all =
      launch.grid[1] | launch.grid[2] | launch.block[0] | launch.block[1] | launch.block[2];
  if (!Unlikely(all > UINT16_MAX)) return;
  flags |= trace::kSaturated;
  for (int i = 0; i < 2; ++i) record.grid_yz[i] = Saturated(launch.grid[i + 1]);
  for (int i = 0; i < 3; ++i) record.block[i] = Saturated(launch.block[i]);
}

KernelShape ShapeOf(const Launch& launch, uint32_t function) {
  return {function,
          {launch.grid[0], launch.grid[1], launch.grid[2]},
          {launch.block[0], launch.block[1], launch.block[2]},
          launch.shared};
}

__attribute__((noinline, cold)) void Captured(const Launch& launch, uint32_t function,
                                              uint32_t capture) {
  const KernelShape shape = ShapeOf(launch, function);
  AddCaptured(capture, kNodeKernel, &shape);
}

__attribute__((noinline, cold)) void Failed(const Launch& launch, const char* api, int result,
                                            uint32_t function, uint32_t stream, uint32_t capture) {
  const KernelShape shape = ShapeOf(launch, function);
  RecordError({api, result, &shape, nullptr, nullptr, stream, true, capture, 0});
}

__attribute__((noinline, cold)) void FirstLaunch(Open open, uint32_t function, uint64_t started) {
  const uint64_t ns = SlowClock() - started;
  if (Ours(open)) SetDuration(open, Clock() - open.record->clock);
  if (ns < kSlow) return;
  Event event("first_launch");
  event.Number("function", function).Number("ns", ns);
}

// Launches of this function by this thread before.
inline uint64_t CountFunction(uint32_t function) {
  trace::RingHeader* ring = thread.ring;
  if (Unlikely(function == 0 || function >= trace::kFunctionCounts)) {
    Add(ring->other_functions, true);
    return 1;
  }
  const uint64_t before = ring->launches[function].load(std::memory_order_relaxed);
  Add(ring->launches[function], thread.shared_ring);
  return before;
}

template <typename Call>
__attribute__((always_inline)) inline int Record(const Launch& launch, const char* api, Call call) {
  if (!Attached()) return call();
  const uint64_t clock = Clock();
  const uint32_t function = FunctionOf(launch.function);
  const uint32_t stream = StreamOf(launch.stream);
  uint32_t capture = 0;
  if (Unlikely(state->captures_live.load(std::memory_order_relaxed) != 0)) {
    capture = CaptureOf(launch.stream, launch.per_thread);
  }
  const Open open = Begin(launch.op, clock);
  trace::Record& record = *open.record;
  uint16_t flags = launch.flags | StreamFlags(launch.stream, launch.per_thread);
  record.function = function;
  record.stream = stream;
  WriteShape(launch, record, flags);
  record.context = thread.context;
  record.shared = launch.shared;
  record.capture = capture;
  record.aux = 0;
  const bool first = CountFunction(function) == 0;
  if (Unlikely(first)) flags |= trace::kFirstLaunch;
  if (Unlikely(capture != 0)) flags |= trace::kCaptured;
  record.flags = flags;
  const uint64_t started = Unlikely(first) ? SlowClock() : 0;
  Publish(open);
  const int result = call();
  Finish(open, result);
  if (Unlikely(first || timed)) {
    if (first) {
      FirstLaunch(open, function, started);
    } else if (Ours(open)) {
      SetDuration(open, Clock() - clock);
    }
  }
  if (Unlikely(result != kSuccess)) {
    const Launch copy = launch;  // so that only this path has it in memory
    Failed(copy, api, result, function, stream, capture);
  } else if (Unlikely(capture != 0)) {
    const Launch copy = launch;
    Captured(copy, function, capture);
  }
  return result;
}

using LaunchKernelCall = int (*)(Handle, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                                 uint32_t, Handle, void**, void**);

// Idle, the hook is a jump to the driver with the arguments where they are: hence the two
// functions.
template <uint32_t kHook, auto kRecorded, typename... Arguments>
int Entry(Arguments... arguments) {
  if (Unlikely(idle)) return reinterpret_cast<int (*)(Arguments...)>(real[kHook])(arguments...);
  return kRecorded(arguments...);
}

template <uint32_t kHook, bool kPerThread>
__attribute__((noinline)) int LaunchKernel(Handle function, uint32_t grid_x, uint32_t grid_y,
                                           uint32_t grid_z, uint32_t block_x, uint32_t block_y,
                                           uint32_t block_z, uint32_t shared, Handle stream,
                                           void** parameters, void** extra) {
  const auto call = reinterpret_cast<LaunchKernelCall>(real[kHook]);
  return Record({Op::kLaunchKernel,
                 kPerThread,
                 0,
                 function,
                 stream,
                 {grid_x, grid_y, grid_z},
                 {block_x, block_y, block_z},
                 shared},
                "cuLaunchKernel", [&] {
                  return call(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared,
                              stream, parameters, extra);
                });
}

using CooperativeCall = int (*)(Handle, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                                uint32_t, Handle, void**);

template <uint32_t kHook, bool kPerThread>
__attribute__((noinline)) int LaunchCooperative(Handle function, uint32_t grid_x, uint32_t grid_y,
                                                uint32_t grid_z, uint32_t block_x, uint32_t block_y,
                                                uint32_t block_z, uint32_t shared, Handle stream,
                                                void** parameters) {
  const auto call = reinterpret_cast<CooperativeCall>(real[kHook]);
  return Record({Op::kLaunchCooperative,
                 kPerThread,
                 trace::kCooperative,
                 function,
                 stream,
                 {grid_x, grid_y, grid_z},
                 {block_x, block_y, block_z},
                 shared},
                "cuLaunchCooperativeKernel", [&] {
                  return call(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared,
                              stream, parameters);
                });
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
__attribute__((noinline)) int LaunchKernelEx(const LaunchConfig* config, Handle function,
                                             void** parameters, void** extra) {
  const auto call = reinterpret_cast<LaunchExCall>(real[kHook]);
  if (Unlikely(config == nullptr ||
               (config->attributes == nullptr && config->attribute_count != 0))) {
    return call(config, function, parameters, extra);
  }
  return Record({Op::kLaunchKernelEx,
                 kPerThread,
                 AttributeFlags(*config),
                 function,
                 config->stream,
                 {config->grid[0], config->grid[1], config->grid[2]},
                 {config->block[0], config->block[1], config->block[2]},
                 config->shared},
                "cuLaunchKernelEx", [&] { return call(config, function, parameters, extra); });
}

using MultiDeviceCall = int (*)(CooperativeLaunch*, uint32_t, uint32_t);

template <uint32_t kHook>
__attribute__((noinline)) int LaunchMultiDevice(CooperativeLaunch* launches, uint32_t count,
                                                uint32_t flags) {
  const auto call = reinterpret_cast<MultiDeviceCall>(real[kHook]);
  if (launches == nullptr || count == 0) return call(launches, count, flags);
  // One call; the record is of the first device's launch, `aux` says how many there are.
  const CooperativeLaunch& first = launches[0];
  return Record({Op::kLaunchCooperativeMulti,
                 false,
                 trace::kCooperative,
                 first.function,
                 first.stream,
                 {first.grid[0], first.grid[1], first.grid[2]},
                 {first.block[0], first.block[1], first.block[2]},
                 first.shared},
                "cuLaunchCooperativeKernelMultiDevice",
                [&] { return call(launches, count, flags); });
}

// The forms before CUDA 4.0: the block was set by a call of its own, so it is not known here.
template <uint32_t kHook>
__attribute__((noinline)) int LaunchOld(Handle function) {
  const auto call = reinterpret_cast<int (*)(Handle)>(real[kHook]);
  return Record({Op::kLaunchLegacy, false, 0, function, nullptr, {1, 1, 1}, {0, 0, 0}, 0},
                "cuLaunch", [&] { return call(function); });
}

template <uint32_t kHook>
__attribute__((noinline)) int LaunchGrid(Handle function, int width, int height) {
  const auto call = reinterpret_cast<int (*)(Handle, int, int)>(real[kHook]);
  return Record({Op::kLaunchLegacy,
                 false,
                 0,
                 function,
                 nullptr,
                 {static_cast<uint32_t>(width), static_cast<uint32_t>(height), 1},
                 {0, 0, 0},
                 0},
                "cuLaunchGrid", [&] { return call(function, width, height); });
}

template <uint32_t kHook>
__attribute__((noinline)) int LaunchGridAsync(Handle function, int width, int height,
                                              Handle stream) {
  const auto call = reinterpret_cast<int (*)(Handle, int, int, Handle)>(real[kHook]);
  return Record({Op::kLaunchLegacy,
                 false,
                 0,
                 function,
                 stream,
                 {static_cast<uint32_t>(width), static_cast<uint32_t>(height), 1},
                 {0, 0, 0},
                 0},
                "cuLaunchGridAsync", [&] { return call(function, width, height, stream); });
}

__attribute__((noinline, cold)) void GraphFailed(Handle exec, int result, uint32_t stream,
                                                 uint32_t capture) {
  RecordError({"cuGraphLaunch", result, nullptr, exec, nullptr, stream, true, capture, 0});
}

template <uint32_t kHook, bool kPerThread>
__attribute__((noinline)) int GraphLaunch(Handle exec, Handle stream) {
  const auto call = reinterpret_cast<int (*)(Handle, Handle)>(real[kHook]);
  if (!Attached()) return call(exec, stream);
  const uint64_t clock = Clock();
  const uint32_t graph = ExecId(exec);
  const uint32_t stream_id = StreamOf(stream);
  uint16_t flags = StreamFlags(stream, kPerThread);
  uint32_t capture = 0;
  if (Unlikely(state->captures_live.load(std::memory_order_relaxed) != 0)) {
    capture = CaptureOf(stream, kPerThread);
    if (capture != 0) flags |= trace::kCaptured;
  }
  const Open open = Begin(Op::kGraphLaunch, clock);
  trace::Record& record = *open.record;
  record.flags = flags;
  record.function = 0;
  record.stream = stream_id;
  NoShape(record);
  record.context = thread.context;
  record.shared = 0;
  record.capture = capture;
  record.aux = graph;
  Publish(open);
  const int result = call(exec, stream);
  Finish(open, result);
  if (Unlikely(timed) && Ours(open)) SetDuration(open, Clock() - clock);
  if (Unlikely(result != kSuccess)) {
    GraphFailed(exec, result, stream_id, capture);
  } else if (Unlikely(capture != 0)) {
    // A graph launched into a capture becomes a node with a graph in it.
    AddCaptured(capture, kNodeChild, nullptr);
  }
  return result;
}

template <uint32_t kHook, auto kRecorded, typename... Arguments>
void* EntryOf(int (*)(Arguments...)) {
  return reinterpret_cast<void*>(&Entry<kHook, kRecorded, Arguments...>);
}

template <uint32_t kHook, auto kRecorded>
Hook Of(const char* name) {
  return {name, EntryOf<kHook, kRecorded>(kRecorded)};
}

}  // namespace

const Hook* LaunchHooks() {
  static const Hook hooks[kLaunchHooks] = {
      Of<0, LaunchKernel<0, false>>("cuLaunchKernel"),
      Of<1, LaunchKernel<1, true>>("cuLaunchKernel_ptsz"),
      Of<2, LaunchKernelEx<2, false>>("cuLaunchKernelEx"),
      Of<3, LaunchKernelEx<3, true>>("cuLaunchKernelEx_ptsz"),
      Of<4, LaunchCooperative<4, false>>("cuLaunchCooperativeKernel"),
      Of<5, LaunchCooperative<5, true>>("cuLaunchCooperativeKernel_ptsz"),
      Of<6, LaunchMultiDevice<6>>("cuLaunchCooperativeKernelMultiDevice"),
      Of<7, LaunchOld<7>>("cuLaunch"),
      Of<8, LaunchGrid<8>>("cuLaunchGrid"),
      Of<9, LaunchGridAsync<9>>("cuLaunchGridAsync"),
      Of<10, GraphLaunch<10, false>>("cuGraphLaunch"),
      Of<11, GraphLaunch<11, true>>("cuGraphLaunch_ptsz"),
  };
  return hooks;
}

}  // namespace cuproof::inject
