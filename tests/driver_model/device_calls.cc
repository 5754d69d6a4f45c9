// Devices and contexts.
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

#include "world.h"

using namespace cuproof::model;

namespace {

thread_local std::vector<Context*> pushed;

bool Exists(CUdevice device) {
  return device >= 0 && static_cast<size_t>(device) < TheWorld().gpus.size();
}

// Numbers of CUdevice_attribute, and what every GPU from sm_70 on answers (CUDA programming guide,
// table of technical specifications). Shared memory by opt-in depends on the capability.
int Attribute(int attribute, uint32_t sm) {
  switch (attribute) {
    case 1:  // threads of a block
    case 2:
    case 3:
      return 1024;
    case 4:
      return 64;
    case 5:
      return 2147483647;
    case 6:
    case 7:
      return 65535;
    case 8:  // shared memory of a block
      return 49152;
    case 10:  // warp
      return 32;
    case 12:  // registers of a block
    case 82:
      return 65536;
    case 16:  // multiprocessors
      return 132;
    case 75:
      return static_cast<int>(sm / 10);
    case 76:
      return static_cast<int>(sm % 10);
    case 97:
      return sm == 90 || sm / 10 == 10 ? 232448 : sm == 80 ? 166912 : 101376;
    default:
      return 0;
  }
}

CUresult MakeContext(CUcontext* context, CUdevice device) {
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  if (!Exists(device)) return CUDA_ERROR_INVALID_DEVICE;
  auto made = std::make_unique<Context>();
  made->ordinal = device;
  Context* key = made.get();
  TheWorld().contexts[key] = std::move(made);
  pushed.push_back(CurrentContext());
  SetCurrentContext(key);
  *context = reinterpret_cast<CUcontext>(key);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuInit(unsigned int flags) {
  return EarlyCall("cuInit", [&]() -> CUresult {
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    TheWorld().process = getpid();
    return CUDA_SUCCESS;
  });
}

CUresult cuDriverGetVersion(int* version) {
  return EarlyCall("cuDriverGetVersion", [&]() -> CUresult {
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = TheWorld().version;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return Call("cuDeviceGet", [&]() -> CUresult {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    if (!Exists(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetCount(int* count) {
  return Call("cuDeviceGetCount", [&]() -> CUresult {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<int>(TheWorld().gpus.size());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return Call("cuDeviceGetName", [&]() -> CUresult {
    if (!name || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    if (!Exists(device)) return CUDA_ERROR_INVALID_DEVICE;
    const std::string text =
        fmt::format("Modelled GPU sm_{}", TheWorld().gpus[static_cast<size_t>(device)].sm);
    std::strncpy(name, text.c_str(), static_cast<size_t>(length));
    name[length - 1] = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
  return Call("cuDeviceGetAttribute", [&]() -> CUresult {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    if (!Exists(device)) return CUDA_ERROR_INVALID_DEVICE;
    *value = Attribute(attribute, TheWorld().gpus[static_cast<size_t>(device)].sm);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return Call("cuDeviceTotalMem", [&]() -> CUresult {
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    if (!Exists(device)) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = size_t{1} << 34;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return Call("cuDevicePrimaryCtxRetain", [&]() -> CUresult {
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    if (!Exists(device)) return CUDA_ERROR_INVALID_DEVICE;
    auto& primary = TheWorld().primary[static_cast<size_t>(device)];
    if (!primary) {
      primary = std::make_unique<Context>();
      primary->ordinal = device;
    }
    *context = reinterpret_cast<CUcontext>(primary.get());
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return Call("cuDevicePrimaryCtxRelease", [&]() -> CUresult {
    return Exists(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active) {
  return Call("cuDevicePrimaryCtxGetState", [&]() -> CUresult {
    if (!Exists(device)) return CUDA_ERROR_INVALID_DEVICE;
    if (flags) *flags = 0;
    if (active) *active = TheWorld().primary[static_cast<size_t>(device)] != nullptr;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxCreate_v2(CUcontext* context, unsigned int, CUdevice device) {
  return Call("cuCtxCreate", [&] { return MakeContext(context, device); });
}

CUresult cuCtxCreate_v4(CUcontext* context, void*, unsigned int, CUdevice device) {
  return Call("cuCtxCreate", [&] { return MakeContext(context, device); });
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  return Call("cuCtxDestroy", [&]() -> CUresult {
    if (!TheWorld().contexts.count(context)) return CUDA_ERROR_INVALID_CONTEXT;
    if (CurrentContext() == reinterpret_cast<Context*>(context)) SetCurrentContext(nullptr);
    TheWorld().contexts.erase(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return Call("cuCtxSetCurrent", [&]() -> CUresult {
    SetCurrentContext(reinterpret_cast<Context*>(context));
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return Call("cuCtxGetCurrent", [&]() -> CUresult {
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    *context = reinterpret_cast<CUcontext>(CurrentContext());
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return Call("cuCtxPushCurrent", [&]() -> CUresult {
    pushed.push_back(CurrentContext());
    SetCurrentContext(reinterpret_cast<Context*>(context));
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return Call("cuCtxPopCurrent", [&]() -> CUresult {
    if (pushed.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (context) *context = reinterpret_cast<CUcontext>(CurrentContext());
    SetCurrentContext(pushed.back());
    pushed.pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return Call("cuCtxGetDevice", [&]() -> CUresult {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    if (!CurrentContext()) return CUDA_ERROR_INVALID_CONTEXT;
    *device = static_cast<CUdevice>(CurrentContext()->ordinal);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize(void) {
  return Call("cuCtxSynchronize", [&]() -> CUresult {
    if (const CUresult refused = RefuseInCapture("cuCtxSynchronize")) return refused;
    return Sticky();
  });
}
