// Every hook but those of launches: one wrapper for all, by the number of arguments, with a table
// that says what is recorded and what is learnt from a call that has returned.
#include <utility>

#include "call.h"
#include "errors.h"
#include "graphs.h"
#include "handles.h"
#include "hooks.h"
#include "ring.h"

namespace cuproof::inject {
namespace {

using trace::Op;

// ---- The table.

constexpr uint8_t kE = kReportsErrors;
constexpr int8_t kNo = -1;

#define BOTH(name, op, arguments, stream, bytes, wishes, node, before, after)                   \
  {name, op, arguments, stream, bytes, wishes, node, before, after}, {                          \
    name "_ptsz", op, arguments, stream, bytes, (wishes) | kPerThreadEntry, node, before, after \
  }

constexpr Wrapped kWrapped[] = {
    {"cuInit", Op::kNone, 1, kNo, kNo, kE, kNo, nullptr, AfterInit},
    {"cuDriverGetVersion", Op::kNone, 1, kNo, kNo, 0, kNo, nullptr, AfterDriverGetVersion},
    {"cuDeviceGetAttribute", Op::kNone, 3, kNo, kNo, 0, kNo, nullptr, AfterDeviceGetAttribute},
    {"cuDeviceGetName", Op::kNone, 3, kNo, kNo, 0, kNo, nullptr, AfterDeviceGetName},
    {"cuGetExportTable", Op::kNone, 2, kNo, kNo, 0, kNo, nullptr, AfterExportTable},
    // Modules and libraries.
    {"cuModuleLoad", Op::kModuleLoad, 2, kNo, kNo, kE | kTakesPath, kNo, nullptr, AfterLoad},
    {"cuModuleLoadData", Op::kModuleLoad, 2, kNo, kNo, kE | kTakesImage, kNo, nullptr, AfterLoad},
    {"cuModuleLoadDataEx", Op::kModuleLoad, 5, kNo, kNo, kE | kTakesImage, kNo, nullptr,
     AfterLoadEx},
    {"cuModuleLoadFatBinary", Op::kModuleLoad, 2, kNo, kNo, kE | kTakesImage, kNo, nullptr,
     AfterLoad},
    {"cuModuleUnload", Op::kModuleUnload, 1, kNo, kNo, kE, kNo, BeforeUnload, AfterUnload},
    {"cuLibraryLoadData", Op::kLibraryLoad, 8, kNo, kNo, kE | kTakesImage, kNo, nullptr,
     AfterLibraryLoad},
    {"cuLibraryLoadFromFile", Op::kLibraryLoad, 8, kNo, kNo, kE | kTakesPath, kNo, nullptr,
     AfterLibraryLoad},
    {"cuLibraryUnload", Op::kLibraryUnload, 1, kNo, kNo, kE, kNo, BeforeUnload, AfterUnload},
    {"cuLibraryGetModule", Op::kNone, 2, kNo, kNo, kE, kNo, nullptr, AfterLibraryGetModule},
    {"cuLinkComplete", Op::kLink, 3, kNo, kNo, kE, kNo, nullptr, nullptr},
    // Functions. A name that is not there is an answer: frameworks ask for optional ones (Learn).
    {"cuModuleGetFunction", Op::kGetFunction, 3, kNo, kNo, kE, kNo, BeforeGetFunction,
     AfterGetFunction},
    {"cuLibraryGetKernel", Op::kGetFunction, 3, kNo, kNo, kE, kNo, BeforeGetFunction,
     AfterGetFunction},
    {"cuKernelGetFunction", Op::kGetFunction, 2, kNo, kNo, kE, kNo, nullptr,
     AfterKernelGetFunction},
    {"cuFuncLoad", Op::kGetFunction, 1, kNo, kNo, kE, kNo, nullptr, nullptr},
    {"cuFuncGetName", Op::kNone, 2, kNo, kNo, 0, kNo, nullptr, AfterGetName},
    {"cuKernelGetName", Op::kNone, 2, kNo, kNo, 0, kNo, nullptr, AfterGetName},
    {"cuModuleEnumerateFunctions", Op::kNone, 3, kNo, kNo, 0, kNo, nullptr, AfterEnumerate},
    {"cuLibraryEnumerateKernels", Op::kNone, 3, kNo, kNo, 0, kNo, nullptr, AfterEnumerate},
    {"cuFuncGetAttribute", Op::kNone, 3, kNo, kNo, 0, kNo, nullptr, AfterFuncGetAttribute},
    {"cuKernelGetAttribute", Op::kNone, 4, kNo, kNo, 0, kNo, nullptr, AfterFuncGetAttribute},
    {"cuFuncSetAttribute", Op::kFunctionSetAttribute, 3, kNo, kNo, kE, kNo, nullptr,
     AfterFuncSetAttribute},
    {"cuKernelSetAttribute", Op::kFunctionSetAttribute, 4, kNo, kNo, kE, kNo, nullptr,
     AfterKernelSetAttribute},
    // Contexts.
    {"cuDevicePrimaryCtxRetain", Op::kContextCreate, 2, kNo, kNo, kE, kNo, nullptr,
     AfterPrimaryContext},
    {"cuCtxCreate", Op::kContextCreate, 3, kNo, kNo, kE, kNo, nullptr, AfterContextCreate},
    {"cuCtxCreate_v2", Op::kContextCreate, 3, kNo, kNo, kE, kNo, nullptr, AfterContextCreate},
    {"cuCtxCreate_v3", Op::kContextCreate, 5, kNo, kNo, kE, kNo, nullptr, AfterContextCreateV3},
    {"cuCtxCreate_v4", Op::kContextCreate, 4, kNo, kNo, kE, kNo, nullptr, AfterContextCreateV4},
    {"cuCtxFromGreenCtx", Op::kContextCreate, 2, kNo, kNo, kE, kNo, nullptr, AfterContextFromGreen},
    {"cuCtxDestroy", Op::kContextDestroy, 1, kNo, kNo, kE, kNo, nullptr, AfterContextDestroy},
    {"cuCtxDestroy_v2", Op::kContextDestroy, 1, kNo, kNo, kE, kNo, nullptr, AfterContextDestroy},
    {"cuCtxSetCurrent", Op::kNone, 1, kNo, kNo, kE, kNo, nullptr, AfterContextSet},
    {"cuCtxPushCurrent", Op::kNone, 1, kNo, kNo, kE, kNo, nullptr, AfterContextPush},
    {"cuCtxPushCurrent_v2", Op::kNone, 1, kNo, kNo, kE, kNo, nullptr, AfterContextPush},
    {"cuCtxPopCurrent", Op::kNone, 1, kNo, kNo, 0, kNo, nullptr, AfterContextPop},
    {"cuCtxPopCurrent_v2", Op::kNone, 1, kNo, kNo, 0, kNo, nullptr, AfterContextPop},
    {"cuCtxSynchronize", Op::kContextSynchronize, 0, kNo, kNo, kE, kNo, nullptr, nullptr},
    {"cuCtxSynchronize_v2", Op::kContextSynchronize, 1, kNo, kNo, kE, kNo, nullptr, nullptr},
    // Streams and events.
    {"cuStreamCreate", Op::kStreamCreate, 2, kNo, kNo, kE, kNo, nullptr, AfterStreamCreate},
    {"cuStreamCreateWithPriority", Op::kStreamCreate, 3, kNo, kNo, kE, kNo, nullptr,
     AfterStreamCreatePriority},
    {"cuGreenCtxStreamCreate", Op::kStreamCreate, 4, kNo, kNo, kE, kNo, nullptr,
     AfterGreenStreamCreate},
    {"cuStreamDestroy", Op::kStreamDestroy, 1, 0, kNo, kE, kNo, nullptr, AfterStreamDestroy},
    {"cuStreamDestroy_v2", Op::kStreamDestroy, 1, 0, kNo, kE, kNo, nullptr, AfterStreamDestroy},
    BOTH("cuStreamSynchronize", Op::kStreamSynchronize, 1, 0, kNo, kE, kNo, nullptr, nullptr),
    BOTH("cuStreamWaitEvent", Op::kNone, 3, 0, kNo, kE, kNo, nullptr, AfterStreamWait),
    BOTH("cuEventRecord", Op::kNone, 2, 1, kNo, kE, kNo, nullptr, AfterEventRecord),
    BOTH("cuEventRecordWithFlags", Op::kNone, 3, 1, kNo, kE, kNo, nullptr, AfterEventRecordFlags),
    {"cuEventSynchronize", Op::kEventSynchronize, 1, kNo, kNo, kE, kNo, nullptr, nullptr},
    BOTH("cuLaunchHostFunc", Op::kLaunchHostFunc, 3, 0, kNo, kE, kNodeHost, nullptr, nullptr),
    BOTH("cuLaunchHostFunc_v2", Op::kLaunchHostFunc, 4, 0, kNo, kE, kNodeHost, nullptr, nullptr),
    BOTH("cuStreamAddCallback", Op::kLaunchHostFunc, 4, 0, kNo, kE, kNodeHost, nullptr, nullptr),
    // Captures.
    BOTH("cuStreamBeginCapture", Op::kCaptureBegin, 1, 0, kNo, kE, kNo, nullptr,
         AfterBeginCaptureV1),
    BOTH("cuStreamBeginCapture_v2", Op::kCaptureBegin, 2, 0, kNo, kE, kNo, nullptr,
         AfterBeginCapture),
    BOTH("cuStreamBeginCaptureToGraph", Op::kCaptureBegin, 6, 0, kNo, kE, kNo, nullptr,
         AfterBeginCaptureToGraph),
    BOTH("cuStreamEndCapture", Op::kCaptureEnd, 2, 0, kNo, kE | kAfterFailure, kNo, nullptr,
         AfterEndCapture),
    // Graphs.
    {"cuGraphCreate", Op::kNone, 2, kNo, kNo, kE, kNo, nullptr, AfterGraphCreate},
    {"cuGraphDestroy", Op::kNone, 1, kNo, kNo, kE, kNo, nullptr, AfterGraphDestroy},
    {"cuGraphClone", Op::kNone, 2, kNo, kNo, kE, kNo, nullptr, AfterGraphClone},
    {"cuGraphDestroyNode", Op::kNone, 1, kNo, kNo, kE, kNo, nullptr, AfterDestroyNode},
    {"cuGraphAddKernelNode", Op::kNone, 5, kNo, kNo, kE, kNo, nullptr, AfterAddKernelNodeV1},
    {"cuGraphAddKernelNode_v2", Op::kNone, 5, kNo, kNo, kE, kNo, nullptr, AfterAddKernelNode},
    {"cuGraphAddNode", Op::kNone, 5, kNo, kNo, kE, kNo, nullptr, AfterAddNodeV1},
    {"cuGraphAddNode_v2", Op::kNone, 6, kNo, kNo, kE, kNo, nullptr, AfterAddNode},
    {"cuGraphAddMemcpyNode", Op::kNone, 6, kNo, kNo, kE, kNo, nullptr, AfterAdd<kNodeMemcpy>},
    {"cuGraphAddMemsetNode", Op::kNone, 6, kNo, kNo, kE, kNo, nullptr, AfterAdd<kNodeMemset>},
    {"cuGraphAddHostNode", Op::kNone, 5, kNo, kNo, kE, kNo, nullptr, AfterAdd<kNodeHost>},
    {"cuGraphAddChildGraphNode", Op::kNone, 5, kNo, kNo, kE, kNo, nullptr, AfterAdd<kNodeChild>},
    {"cuGraphAddEmptyNode", Op::kNone, 4, kNo, kNo, kE, kNo, nullptr, AfterAdd<kNodeEmpty>},
    {"cuGraphAddEventRecordNode", Op::kNone, 5, kNo, kNo, kE, kNo, nullptr,
     AfterAdd<kNodeEventRecord>},
    {"cuGraphAddEventWaitNode", Op::kNone, 5, kNo, kNo, kE, kNo, nullptr, AfterAdd<kNodeEventWait>},
    {"cuGraphAddMemAllocNode", Op::kNone, 5, kNo, kNo, kE, kNo, nullptr, AfterAdd<kNodeMemAlloc>},
    {"cuGraphAddMemFreeNode", Op::kNone, 5, kNo, kNo, kE, kNo, nullptr, AfterAdd<kNodeMemFree>},
    {"cuGraphInstantiate", Op::kGraphInstantiate, 5, kNo, kNo, kE | kAfterFailure, kNo, nullptr,
     AfterInstantiate},
    {"cuGraphInstantiate_v2", Op::kGraphInstantiate, 5, kNo, kNo, kE | kAfterFailure, kNo, nullptr,
     AfterInstantiate},
    {"cuGraphInstantiateWithFlags", Op::kGraphInstantiate, 3, kNo, kNo, kE | kAfterFailure, kNo,
     nullptr, AfterInstantiate},
    BOTH("cuGraphInstantiateWithParams", Op::kGraphInstantiate, 3, kNo, kNo, kE | kAfterFailure,
         kNo, nullptr, AfterInstantiate),
    {"cuGraphExecUpdate", Op::kGraphExecUpdate, 4, kNo, kNo, 0, kNo, nullptr, AfterExecUpdate},
    {"cuGraphExecUpdate_v2", Op::kGraphExecUpdate, 3, kNo, kNo, 0, kNo, nullptr, AfterExecUpdate},
    {"cuGraphExecDestroy", Op::kNone, 1, kNo, kNo, kE, kNo, nullptr, AfterExecDestroy},
    // Memory.
    {"cuMemAlloc", Op::kMemAlloc, 2, kNo, 1, kE, kNo, nullptr, nullptr},
    {"cuMemAlloc_v2", Op::kMemAlloc, 2, kNo, 1, kE, kNo, nullptr, nullptr},
    {"cuMemFree", Op::kMemFree, 1, kNo, kNo, kE, kNo, nullptr, nullptr},
    {"cuMemFree_v2", Op::kMemFree, 1, kNo, kNo, kE, kNo, nullptr, nullptr},
    BOTH("cuMemAllocAsync", Op::kMemAllocAsync, 3, 2, 1, kE, kNodeMemAlloc, nullptr, nullptr),
    BOTH("cuMemAllocFromPoolAsync", Op::kMemAllocAsync, 4, 3, 1, kE, kNodeMemAlloc, nullptr,
         nullptr),
    BOTH("cuMemFreeAsync", Op::kMemFreeAsync, 2, 1, kNo, kE, kNodeMemFree, nullptr, nullptr),
    BOTH("cuMemcpyAsync", Op::kMemcpy, 4, 3, 2, kE, kNodeMemcpy, nullptr, nullptr),
    BOTH("cuMemcpyHtoDAsync_v2", Op::kMemcpy, 4, 3, 2, kE, kNodeMemcpy, nullptr, nullptr),
    BOTH("cuMemcpyDtoHAsync_v2", Op::kMemcpy, 4, 3, 2, kE, kNodeMemcpy, nullptr, nullptr),
    BOTH("cuMemcpyDtoDAsync_v2", Op::kMemcpy, 4, 3, 2, kE, kNodeMemcpy, nullptr, nullptr),
    BOTH("cuMemcpyPeerAsync", Op::kMemcpy, 6, 5, 4, kE, kNodeMemcpy, nullptr, nullptr),
    BOTH("cuMemcpy2DAsync_v2", Op::kMemcpy, 2, 1, kNo, kE, kNodeMemcpy, nullptr, nullptr),
    BOTH("cuMemcpy3DAsync_v2", Op::kMemcpy, 2, 1, kNo, kE, kNodeMemcpy, nullptr, nullptr),
    BOTH("cuMemsetD8Async", Op::kMemset, 4, 3, 2, kE, kNodeMemset, nullptr, nullptr),
    BOTH("cuMemsetD16Async", Op::kMemset, 4, 3, 2, kE, kNodeMemset, nullptr, nullptr),
    BOTH("cuMemsetD32Async", Op::kMemset, 4, 3, 2, kE, kNodeMemset, nullptr, nullptr),
    BOTH("cuMemsetD2D8Async", Op::kMemset, 6, 5, kNo, kE, kNodeMemset, nullptr, nullptr),
    BOTH("cuMemsetD2D16Async", Op::kMemset, 6, 5, kNo, kE, kNodeMemset, nullptr, nullptr),
    BOTH("cuMemsetD2D32Async", Op::kMemset, 6, 5, kNo, kE, kNodeMemset, nullptr, nullptr),
};
#undef BOTH
constexpr uint32_t kCount = sizeof kWrapped / sizeof kWrapped[0];
static_assert(kCount <= kCallHooks);

// ---- The wrapper.

template <size_t... kNumber>
int Invoke(void* function, const uint64_t* arguments, std::index_sequence<kNumber...>) {
  (void)arguments;
  // As many were filled in as the hook has arguments, which the analyzer cannot see.
  // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage)
  return reinterpret_cast<int (*)(decltype(static_cast<void>(kNumber), uint64_t{})...)>(function)(
      arguments[kNumber]...);
}

int Forward(const Wrapped& hook, void* function, const uint64_t* arguments) {
  switch (hook.arguments) {
    case 0:
      return Invoke(function, arguments, std::make_index_sequence<0>());
    case 1:
      return Invoke(function, arguments, std::make_index_sequence<1>());
    case 2:
      return Invoke(function, arguments, std::make_index_sequence<2>());
    case 3:
      return Invoke(function, arguments, std::make_index_sequence<3>());
    case 4:
      return Invoke(function, arguments, std::make_index_sequence<4>());
    case 5:
      return Invoke(function, arguments, std::make_index_sequence<5>());
    case 6:
      return Invoke(function, arguments, std::make_index_sequence<6>());
    default:
      return Invoke(function, arguments, std::make_index_sequence<8>());
  }
}

// What is learnt after a call, or of its failure.
void Learn(Call& call, uint32_t stream) {
  const KeepErrno keep;
  const Wrapped& hook = *call.hook;
  if (call.result == kSuccess) {
    if (hook.node >= 0 && call.capture != 0) {
      AddCaptured(call.capture, static_cast<NodeType>(hook.node), nullptr);
    }
    if (hook.after != nullptr) hook.after(call);
    return;
  }
  if (hook.after != nullptr && (call.image != nullptr || (hook.wishes & kAfterFailure) != 0)) {
    hook.after(call);
  }
  if ((hook.wishes & kReportsErrors) == 0 || call.result == kErrorNotReady) return;
  if (hook.op == Op::kGetFunction && call.result == kErrorNotFound) return;
  const bool graph = hook.op == Op::kGraphInstantiate;
  RecordError({hook.name, call.result, nullptr, nullptr, graph ? call.Argument(1) : nullptr, stream,
               hook.stream >= 0, call.capture, call.image_id});
}

int Record(Call& call, void* function) {
  const Wrapped& hook = *call.hook;
  if (hook.before != nullptr) hook.before(call);
  uint32_t stream = 0;
  uint16_t flags = 0;
  if (hook.stream >= 0) {
    const void* handle = call.Argument(static_cast<uint32_t>(hook.stream));
    stream = StreamOf(handle);
    flags = StreamFlags(handle, PerThread(call));
    if (Unlikely(state->captures_live.load(std::memory_order_relaxed) != 0)) {
      call.capture = CaptureOf(handle, PerThread(call));
    }
  }
  const bool wants_time = hook.after != nullptr && hook.op != Op::kNone;
  const uint64_t started = wants_time ? SlowClock() : 0;
  Open open = {};
  if (hook.op != Op::kNone) {
    const uint64_t clock = Clock();
    const uint64_t bytes = hook.bytes >= 0 ? call.arguments[hook.bytes] : 0;
    open = BeginCall(hook.op, clock, flags, stream, call.capture, bytes);
  }
  call.result = Forward(hook, function, call.arguments);
  if (open.record != nullptr) FinishCall(open, call.result, wants_time || timed);
  if (wants_time) call.ns = SlowClock() - started;
  Learn(call, stream);
  return call.result;
}

// Apart, because the view of an image is large, and most calls have none.
__attribute__((noinline)) int RecordLoad(Call& call, void* function) {
  ImageView image;
  {
    const KeepErrno keep;
    image = (call.hook->wishes & kTakesImage) != 0 ? LookAtImage(call.Argument(1))
                                                   : LookAtPath(call.Argument<const char*>(1));
  }
  call.image = &image;
  return Record(call, function);
}

int Around(uint32_t number, const uint64_t* arguments) {
  const Wrapped& hook = kWrapped[number];
  void* function = real[kLaunchHooks + number];
  if (!Attached()) return Forward(hook, function, arguments);
  Call call = {&hook, arguments, 0, 0, 0, nullptr, 0};
  return (hook.wishes & (kTakesImage | kTakesPath)) != 0 ? RecordLoad(call, function)
                                                         : Record(call, function);
}

template <uint32_t kNumber, typename Sequence>
struct Wrapper;
template <uint32_t kNumber, size_t... kArgument>
struct Wrapper<kNumber, std::index_sequence<kArgument...>> {
  static int Run(decltype(static_cast<void>(kArgument), uint64_t{})... arguments) {
    const uint64_t list[sizeof...(kArgument) + 1] = {arguments..., 0};
    return Around(kNumber, list);
  }
};

template <uint32_t kNumber>
constexpr Hook HookOf() {
  return {kWrapped[kNumber].name,
          reinterpret_cast<void*>(
              &Wrapper<kNumber, std::make_index_sequence<kWrapped[kNumber].arguments>>::Run)};
}

template <typename Sequence>
struct Hooks;
template <uint32_t... kNumber>
struct Hooks<std::integer_sequence<uint32_t, kNumber...>> {
  static const Hook* List() {
    static const Hook list[] = {HookOf<kNumber>()...};
    return list;
  }
};

}  // namespace

const Hook* CallHooks(uint32_t* count) {
  *count = kCount;
  return Hooks<std::make_integer_sequence<uint32_t, kCount>>::List();
}

}  // namespace cuproof::inject
