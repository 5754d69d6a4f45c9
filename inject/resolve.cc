// The first call of any driver symbol comes here: the real driver is opened, and every slot of the
// shim filled with the driver's function or with the hook around it.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driver_types.h"
#include "events.h"
#include "hooks.h"
#include "ring.h"

namespace cuproof::inject {

void* real[kMaxHooks] = {};

namespace {

constexpr uint32_t kProcAddress = kLaunchHooks + kCallHooks;  // numbers of this file's hooks
constexpr uint32_t kProcAddressV2 = kProcAddress + 1;

void* driver = nullptr;
uint32_t absent = 0;
int open_failed = 0;
pthread_once_t once = PTHREAD_ONCE_INIT;
std::atomic<long> working{0};  // the thread that fills the slots

// From addresses of the driver's functions to hooks. Which version and which per-thread form a
// program gets is the driver's answer, so its answer is what is looked up. Written once, before any
// reader.
struct AddressHook {
  void* address;
  void* wrapper;
};
AddressHook by_address[kMaxHooks * 4] = {};

uint32_t AddressSlot(const void* address) {
  const auto number = reinterpret_cast<uintptr_t>(address) >> 4;
  return static_cast<uint32_t>(number * 0x9e3779b1) % (kMaxHooks * 4);
}

void NoteAddress(void* address, void* wrapper) {
  uint32_t slot = AddressSlot(address);
  while (by_address[slot].address != nullptr && by_address[slot].address != address) {
    slot = (slot + 1) % (kMaxHooks * 4);
  }
  if (by_address[slot].address == nullptr) by_address[slot] = {address, wrapper};
}

void* HookAt(void* address) {
  for (uint32_t slot = AddressSlot(address); by_address[slot].address != nullptr;
       slot = (slot + 1) % (kMaxHooks * 4)) {
    if (by_address[slot].address == address) return by_address[slot].wrapper;
  }
  return address;
}

// CUDA_ERROR_NOT_FOUND where the shim has a name that the driver lost since the shim was written.
int Absent() { return kErrorNotFound; }
// CUDA_ERROR_UNKNOWN where the driver that the shim was written for can no longer be opened.
int NoDriver() { return 999; }

// The driver's answer, with the hook in the place of its function.
int Answer(int result, void** function) {
  if (result == kSuccess && function != nullptr && *function != nullptr) {
    *function = HookAt(*function);
  }
  return result;
}

using ProcAddressCall = int (*)(const char*, void**, int, uint64_t);
using ProcAddressV2Call = int (*)(const char*, void**, int, uint64_t, uint32_t*);

int ProcAddress(const char* symbol, void** function, int version, uint64_t flags) {
  return Answer(
      reinterpret_cast<ProcAddressCall>(real[kProcAddress])(symbol, function, version, flags),
      function);
}

int ProcAddressV2(const char* symbol, void** function, int version, uint64_t flags,
                  uint32_t* status) {
  return Answer(reinterpret_cast<ProcAddressV2Call>(real[kProcAddressV2])(symbol, function, version,
                                                                          flags, status),
                function);
}

// dlsym without a trace: an error that it leaves behind would be taken for one of the program's
// calls.
void* FindSymbol(void* library, const char* name) {
  void* address = dlsym(library, name);
  if (address == nullptr) dlerror();
  return address;
}

struct Numbered {
  void* wrapper;
  uint32_t number;
};

// The hook of a name, by a search: this runs once for each name of the driver.
Numbered HookNamed(const char* name) {
  const Hook* launches = LaunchHooks();
  for (uint32_t i = 0; i < kLaunchHooks; ++i) {
    if (strcmp(launches[i].name, name) == 0) return {launches[i].wrapper, i};
  }
  uint32_t count = 0;
  const Hook* calls = CallHooks(&count);
  for (uint32_t i = 0; i < count; ++i) {
    if (strcmp(calls[i].name, name) == 0) return {calls[i].wrapper, kLaunchHooks + i};
  }
  if (strcmp(name, "cuGetProcAddress") == 0) {
    return {reinterpret_cast<void*>(ProcAddress), kProcAddress};
  }
  if (strcmp(name, "cuGetProcAddress_v2") == 0) {
    return {reinterpret_cast<void*>(ProcAddressV2), kProcAddressV2};
  }
  return {nullptr, 0};
}

void ForgetParent() { memset(static_cast<void*>(state), 0, sizeof(State)); }

bool MakeState() {
  void* memory = mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  state = static_cast<State*>(memory);
  // Linux 4.14. Where it is refused, the handler serves fork(), and only a bare clone() is missed.
  if (madvise(memory, sizeof(State), MADV_WIPEONFORK) != 0) {
    pthread_atfork(nullptr, nullptr, ForgetParent);
  }
  return true;
}

void FillSlots() {
  // Idle, every name leads straight to the driver.
  const bool idle = (shim->options & trace::kOptionIdle) != 0;
  for (uint32_t i = 0; i < shim->count; ++i) {
    if (driver == nullptr) {
      shim->slots[i] = reinterpret_cast<void*>(NoDriver);
      continue;
    }
    void* address = FindSymbol(driver, shim->names[i]);
    if (address == nullptr) {
      ++absent;
      shim->slots[i] = reinterpret_cast<void*>(Absent);
      continue;
    }
    const Numbered hook = HookNamed(shim->names[i]);
    if (hook.wrapper != nullptr && state != nullptr && !idle) {
      real[hook.number] = address;
      NoteAddress(address, hook.wrapper);
      address = hook.wrapper;
    }
    __atomic_store_n(&shim->slots[i], address, __ATOMIC_RELEASE);
  }
}

void Setup() {
  const KeepErrno keep;
  working.store(syscall(SYS_gettid), std::memory_order_relaxed);
  timed = (shim->options & trace::kOptionTimed) != 0;
  clock_is_tsc = TscIsConstant();
  record_mask = shim->records - 1;
  if (MakeState()) PrepareThreads();
  // By its path: the name alone is the shim's.
  driver = dlopen(shim->driver, RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) {
    open_failed = errno == 0 ? ENOENT : errno;
    dlerror();
  }
  FillSlots();
  working.store(0, std::memory_order_relaxed);
}

}  // namespace

void RegisterLogs(void* callback) {
  void* address = driver == nullptr ? nullptr : FindSymbol(driver, "cuLogsRegisterCallback");
  if (address == nullptr) return;
  void* handle = nullptr;
  reinterpret_cast<int (*)(void*, void*, void**)>(address)(callback, nullptr, &handle);
}

void WriteDriverEvent() {
  {
    Event event("driver");
    event.Text("path", shim->driver).Number("symbols", shim->count).Number("absent", absent);
  }
  if (driver == nullptr) WriteLost("driver", open_failed);
}

}  // namespace cuproof::inject

extern "C" __attribute__((visibility("default"))) void* cuproof_resolve(
    const cuproof::trace::ShimTable* table, uint32_t index) {
  using namespace cuproof::inject;
  if (working.load(std::memory_order_relaxed) == syscall(SYS_gettid)) {
    // A constructor of the driver calls the driver by name, which leads to the shim: serve it bare.
    void* opening = dlopen(table->driver, RTLD_NOW | RTLD_NOLOAD);
    void* address = opening == nullptr ? nullptr : FindSymbol(opening, table->names[index]);
    return address != nullptr ? address : reinterpret_cast<void*>(Absent);
  }
  if (shim == nullptr) __atomic_store_n(&shim, table, __ATOMIC_RELEASE);
  pthread_once(&once, Setup);
  return table->slots[index];
}
