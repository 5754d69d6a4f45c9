// Every hook but those of launches: one wrapper for all, by the number of arguments, with a table
// that says what is recorded and what is learnt from a call that has returned.
#include <string.h>

#include <utility>

#include "driver_types.h"
#include "errors.h"
#include "events.h"
#include "graphs.h"
#include "handles.h"
#include "hooks.h"
#include "images.h"
#include "ring.h"

namespace cuproof::inject {
namespace {

using trace::Op;

// A call that is under way. Arguments are passed on as the 64-bit registers or stack slots they
// came in: none of the hooked functions has an argument of a floating type or a struct by value.
struct Call {
  const struct Wrapped* hook;
  const uint64_t* arguments;
  int result;
  uint64_t ns;
  uint32_t capture;
  ImageView* image;
  uint32_t image_id;

  template <typename T = void*>
  T Argument(uint32_t number) const {
    T value;
    memcpy(&value, &arguments[number], sizeof value);  // NOLINT(bugprone-sizeof-expression)
    return value;
  }
  /// What the call stored through the pointer that is argument `number`.
  void* Out(uint32_t number) const {
    auto* const* pointer = Argument<void**>(number);
    return pointer == nullptr ? nullptr : *pointer;
  }
};

enum Wish : uint8_t {
  kNothing = 0,
  kReportsErrors = 1,  // a result other than success is an error, and not an answer
  kPerThreadEntry = 2,
  kTakesImage = 4,     // argument 1 is an image in memory
  kTakesPath = 8,      // argument 1 is a path
  kAfterFailure = 16,  // `after` is called after a failure, too
};

struct Wrapped {
  const char* name;
  Op op;  // kNone: no record
  uint8_t arguments;
  int8_t stream;  // argument number; -1: none
  int8_t bytes;   // argument number of a size; -1: none
  uint8_t wishes;
  int8_t node;  // NodeType that the call makes when its stream is captured; -1: none
  void (*before)(Call&);
  void (*after)(
      Call&);  // after success; for a hook that takes an image or wishes so, after failure
};

// ---- What is learnt.

JitOptions OptionsOf(const Call& call, uint32_t count, uint32_t keys, uint32_t values) {
  return {call.Argument<uint32_t>(count), call.Argument<const uint32_t*>(keys),
          call.Argument<void* const*>(values)};
}

void Loaded(Call& call, const JitOptions& options) {
  const void* module = call.result == kSuccess ? call.Out(0) : nullptr;
  call.image_id = RecordImage(*call.image, call.hook->name, call.result, call.ns, module, options);
  if (module == nullptr) return;
  Lock lock;
  state->map.Set(Kind::kModule, module, call.image_id);
}

void AfterLoad(Call& call) { Loaded(call, {}); }
void AfterLoadEx(Call& call) { Loaded(call, OptionsOf(call, 2, 3, 4)); }
void AfterLibraryLoad(Call& call) { Loaded(call, OptionsOf(call, 4, 2, 3)); }

void BeforeUnload(Call& call) { call.image_id = ImageOf(call.Argument(0)); }

void AfterUnload(Call& call) {
  Forget(Kind::kModule, call.Argument(0));
  if (call.image_id == 0) return;
  Event event("unload");
  event.Number("image", call.image_id);
}

// A library's image is looked into now, and not when it is loaded: an error of that is the image's.
void BeforeGetFunction(Call& call) { call.image_id = ImageOf(call.Argument(1)); }

void AfterGetFunction(Call& call) {
  char name[8192];
  const size_t got = SafeRead(name, call.Argument(2), sizeof name - 1);
  name[got] = 0;
  NewFunction(call.Out(0), name, ImageOf(call.Argument(1)), call.hook->name, call.ns);
}

void AfterKernelGetFunction(Call& call) { AliasFunction(call.Argument(1), call.Out(0)); }

void AfterLibraryGetModule(Call& call) {
  const uint32_t image = ImageOf(call.Argument(1));
  Lock lock;
  state->map.Set(Kind::kModule, call.Out(0), image);
}

// cuFuncGetName, cuKernelGetName: the program asks for what may be new to us.
void AfterGetName(Call& call) {
  const void* function = call.Argument(1);
  const auto* name = static_cast<const char*>(call.Out(0));
  if (name == nullptr || state->map.Find(Kind::kFunction, function) != 0) return;
  NewFunction(function, name, 0, call.hook->name, call.ns);
}

void AfterEnumerate(Call& call) {
  auto* const* functions = call.Argument<void* const*>(0);
  const uint32_t image = ImageOf(call.Argument(2));
  for (uint32_t i = 0; functions != nullptr && i < call.Argument<uint32_t>(1); ++i) {
    if (state->map.Find(Kind::kFunction, functions[i]) != 0) continue;
    NewFunction(functions[i], nullptr, image, call.hook->name, 0);
  }
}

void NoteAttribute(const void* handle, int attribute, int value, bool set) {
  if (attribute < 0 || attribute >= kFunctionAttributes) return;
  const uint32_t id = FunctionOf(handle);
  if (id == 0) return;
  FunctionShadow& function = state->function[id];
  const uint32_t bit = 1U << (static_cast<uint32_t>(attribute) + (set ? kFunctionAttributes : 0));
  const bool again = (function.asked.fetch_or(bit, std::memory_order_relaxed) & bit) != 0;
  const bool shared = set && attribute == kFunctionMaxDynamicShared;
  // A limit that is set again and again is written down when it changes.
  const bool same =
      !shared || function.dynamic_shared.exchange(value, std::memory_order_relaxed) == value;
  if (again && same) return;
  Event event("attribute");
  event.Number("function", id)
      .Signed("attribute", attribute)
      .Signed("value", value)
      .Flag("set", set);
}

void AfterFuncGetAttribute(Call& call) {
  const int* value = call.Argument<const int*>(0);
  if (value != nullptr) NoteAttribute(call.Argument(2), call.Argument<int>(1), *value, false);
}
void AfterFuncSetAttribute(Call& call) {
  NoteAttribute(call.Argument(0), call.Argument<int>(1), call.Argument<int>(2), true);
}
void AfterKernelSetAttribute(Call& call) {
  NoteAttribute(call.Argument(2), call.Argument<int>(0), call.Argument<int>(1), true);
}

// The attributes that an explanation needs: limits of blocks, grids, shared memory and registers,
// and the compute capability (CUdevice_attribute).
constexpr uint64_t kDeviceAttributes[4] = {
    1ULL << 1 | 1ULL << 2 | 1ULL << 3 | 1ULL << 4 | 1ULL << 5 | 1ULL << 6 | 1ULL << 7 | 1ULL << 8 |
        1ULL << 10 | 1ULL << 12 | 1ULL << 16 | 1ULL << 39,
    1ULL << (75 - 64) | 1ULL << (76 - 64) | 1ULL << (81 - 64) | 1ULL << (82 - 64) |
        1ULL << (97 - 64) | 1ULL << (106 - 64) | 1ULL << (111 - 64),
    0, 0};

void AfterDeviceGetAttribute(Call& call) {
  const int* value = call.Argument<const int*>(0);
  const auto attribute = call.Argument<uint32_t>(1);
  const auto device = call.Argument<uint32_t>(2);
  if (value == nullptr || attribute >= 256 || device >= kMaxDevices) return;
  const uint64_t bit = 1ULL << (attribute % 64);
  if ((kDeviceAttributes[attribute / 64] & bit) == 0) return;
  auto& seen = state->device_seen[device][attribute / 64];
  if ((seen.fetch_or(bit, std::memory_order_relaxed) & bit) != 0) return;
  char key[4];
  size_t length = 0;
  for (uint32_t rest = attribute, place = 100; place != 0; place /= 10) {
    if (attribute >= place || place == 1)
      key[length++] = static_cast<char>('0' + rest / place % 10);
  }
  key[length] = 0;
  Event event("device");
  event.Number("device", device).OpenObject("attributes").Signed(key, *value).CloseObject();
}

void AfterDeviceGetName(Call& call) {
  const auto device = call.Argument<uint32_t>(2);
  const char* name = call.Argument<const char*>(0);
  if (device >= kMaxDevices || name == nullptr) return;
  if ((state->device_seen[device][3].fetch_or(1ULL << 63, std::memory_order_relaxed) >> 63) != 0)
    return;
  char text[256];
  const auto room = call.Argument<uint32_t>(1);
  const size_t got = SafeRead(text, name, room < sizeof text ? room : sizeof text);
  Event event("device");
  event.Number("device", device).Text("name", text, strnlen(text, got));
}

void AfterDriverGetVersion(Call& call) {
  const int* version = call.Argument<const int*>(0);
  if (version == nullptr ||
      (state->device_seen[0][3].fetch_or(1, std::memory_order_relaxed) & 1) != 0) {
    return;
  }
  Event event("driver");
  event.Signed("version", *version);
}

void AfterPrimaryContext(Call& call) { NewContext(call.Out(0), call.Argument<int>(1), true); }

void CreatedContext(Call& call, uint32_t device_argument) {
  thread.previous_context = thread.context;
  thread.context = NewContext(call.Out(0), call.Argument<int>(device_argument), false);
}
void AfterContextCreate(Call& call) { CreatedContext(call, 2); }
void AfterContextCreateV3(Call& call) { CreatedContext(call, 4); }
void AfterContextCreateV4(Call& call) { CreatedContext(call, 3); }
void AfterContextFromGreen(Call& call) { ContextOf(call.Out(0)); }

void AfterContextSet(Call& call) { EnterContext(call.Argument(0)); }
void AfterContextPush(Call& call) {
  thread.previous_context = thread.context;
  EnterContext(call.Argument(0));
}
void AfterContextPop(Call&) {
  thread.context = thread.previous_context;
  thread.previous_context = 0;
  thread.wants_device = false;
}
void AfterContextDestroy(Call& call) { Forget(Kind::kContext, call.Argument(0)); }

void AfterStreamCreate(Call& call) { NewStream(call.Out(0), call.Argument<uint32_t>(1), 0, false); }
void AfterStreamCreatePriority(Call& call) {
  NewStream(call.Out(0), call.Argument<uint32_t>(1), call.Argument<int>(2), false);
}
void AfterGreenStreamCreate(Call& call) {
  NewStream(call.Out(0), call.Argument<uint32_t>(2), call.Argument<int>(3), false);
}
void AfterStreamDestroy(Call& call) { Forget(Kind::kStream, call.Argument(0)); }

// ---- Captures.

bool PerThread(const Call& call) { return (call.hook->wishes & kPerThreadEntry) != 0; }

void CaptureBegun(Call& call, int mode, const void* graph) {
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

void EventRecorded(Call& call, uint32_t flags) {
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

KernelShape ShapeOf(const KernelNode& node, const void* kernel) {
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
void AddedNode(Call& call, const GraphNode* node) {
  if (node->type != kNodeKernel) {
    AddToGraph(call.Argument(1), static_cast<NodeType>(node->type), nullptr);
    return;
  }
  const KernelShape shape = ShapeOf(node->kernel.node, node->kernel.kernel);
  AddToGraph(call.Argument(1), kNodeKernel, &shape);
}
void AfterAddNodeV1(Call& call) { AddedNode(call, call.Argument<const GraphNode*>(4)); }
void AfterAddNode(Call& call) { AddedNode(call, call.Argument<const GraphNode*>(5)); }
template <NodeType kType>
void AfterAdd(Call& call) {
  AddToGraph(call.Argument(1), kType, nullptr);
}

void Instantiated(Call& call) {
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

// The driver's own words about an error, on the thread that made the call.
void TakeLog(void*, uint32_t level, char* text, size_t length) {
  if (!Attached()) return;
  uint64_t hash = level;
  for (size_t i = 0; i < length; ++i) hash = hash * 31 + static_cast<unsigned char>(text[i]);
  if (!WorthALine(Repeat(hash))) return;
  Event event("log");
  event.Number("level", level).Text("text", text, strnlen(text, length));
}

void AfterInit(Call&) {
  if (state->logs_registered.exchange(1, std::memory_order_relaxed) != 0) return;
  RegisterLogs(reinterpret_cast<void*>(TakeLog));
}

void AfterExportTable(Call& call) {
  unsigned char uuid[16];
  if (SafeRead(uuid, call.Argument(1), sizeof uuid) != sizeof uuid) return;
  uint64_t hash = 0;
  for (const unsigned char byte : uuid) hash = hash * 257 + byte;
  if (Repeat(hash) != 1) return;
  char text[37];
  size_t at = 0;
  for (size_t i = 0; i < sizeof uuid; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text[at++] = '-';
    text[at++] = "0123456789abcdef"[uuid[i] >> 4];
    text[at++] = "0123456789abcdef"[uuid[i] & 15];
  }
  Event event("table");
  event.Text("uuid", text, at);
}

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
     Instantiated},
    {"cuGraphInstantiate_v2", Op::kGraphInstantiate, 5, kNo, kNo, kE | kAfterFailure, kNo, nullptr,
     Instantiated},
    {"cuGraphInstantiateWithFlags", Op::kGraphInstantiate, 3, kNo, kNo, kE | kAfterFailure, kNo,
     nullptr, Instantiated},
    BOTH("cuGraphInstantiateWithParams", Op::kGraphInstantiate, 3, kNo, kNo, kE | kAfterFailure,
         kNo, nullptr, Instantiated),
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

Open BeginCall(const Wrapped& hook, const Call& call, uint64_t clock, uint32_t stream,
               uint16_t stream_flags) {
  const SharedRingLock lock(thread.shared_ring);
  const Open open = Begin(hook.op, clock);
  trace::Record& record = *open.record;
  record.flags = stream_flags;
  record.function = 0;
  record.stream = stream;
  NoShape(record);
  record.context = thread.context;
  record.shared = 0;
  record.capture = call.capture;
  record.aux = hook.bytes >= 0 ? call.arguments[hook.bytes] : 0;
  if (call.capture != 0) record.flags |= trace::kCaptured;
  Publish(open);
  return open;
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

int Around(uint32_t number, const uint64_t* arguments) {
  const Wrapped& hook = kWrapped[number];
  void* function = real[kLaunchHooks + number];
  if (!Attached()) return Forward(hook, function, arguments);
  ImageView image;
  Call call = {&hook, arguments, 0, 0, 0, nullptr, 0};
  if ((hook.wishes & (kTakesImage | kTakesPath)) != 0) {
    const KeepErrno keep;
    image = (hook.wishes & kTakesImage) != 0 ? LookAtImage(call.Argument(1))
                                             : LookAtPath(call.Argument<const char*>(1));
    call.image = &image;
  }
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
  const uint64_t clock = Clock();
  Open open = {};
  if (hook.op != Op::kNone) open = BeginCall(hook, call, clock, stream, flags);
  call.result = Forward(hook, function, arguments);
  if (open.record != nullptr) FinishCall(open, call.result, wants_time || timed);
  if (wants_time) call.ns = SlowClock() - started;
  Learn(call, stream);
  return call.result;
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
