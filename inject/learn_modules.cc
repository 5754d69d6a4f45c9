// What calls say about images, functions, devices, contexts and streams.
#include "call.h"
#include "events.h"
#include "handles.h"
#include "hooks.h"
#include "ring.h"

namespace cuproof::inject {

static JitOptions OptionsOf(const Call& call, uint32_t count, uint32_t keys, uint32_t values) {
  return {call.Argument<uint32_t>(count), call.Argument<const uint32_t*>(keys),
          call.Argument<void* const*>(values)};
}

static void Loaded(Call& call, const JitOptions& options) {
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

static void NoteAttribute(const void* handle, int attribute, int value, bool set) {
  if (attribute < 0 || attribute >= kFunctionAttributes) return;
  const uint32_t id = FunctionOf(handle);
  if (id == 0) return;
  FunctionShadow& function = state->function[id];
  const uint32_t bit = 1U << (static_cast<uint32_t>(attribute) + (set ? kFunctionAttributes : 0));
  // cuBLASLt asks twice at every call, so what is known costs no locked instruction.
  const bool again = (function.asked.load(std::memory_order_relaxed) & bit) != 0 ||
                     (function.asked.fetch_or(bit, std::memory_order_relaxed) & bit) != 0;
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

static void CreatedContext(Call& call, uint32_t device_argument) {
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

// The driver's own words about an error, on the thread that made the call.
static void TakeLog(void*, uint32_t level, char* text, size_t length) {
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

}  // namespace cuproof::inject
