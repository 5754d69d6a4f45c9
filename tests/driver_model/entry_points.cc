// How a program finds a call: by name, version and flags, as libcudart asks for it.
#include <cstring>
#include <string_view>

#include "world.h"

using namespace cuproof::model;

namespace {

struct Entry {
  std::string_view name;  // without suffixes
  int version;            // of CUDA, that brought this form
  void* plain;
  void* per_thread;  // null: the same
};

#define ONE(name, version, function) \
  { name, version, reinterpret_cast<void*>(function), nullptr }
#define TWO(name, version, function, twin) \
  { name, version, reinterpret_cast<void*>(function), reinterpret_cast<void*>(twin) }

// Of several forms of a name the newest that the caller knows is taken.
const Entry kEntries[] = {
    ONE("cuInit", 2000, cuInit),
    ONE("cuDriverGetVersion", 2020, cuDriverGetVersion),
    ONE("cuGetErrorName", 6000, cuGetErrorName),
    ONE("cuGetErrorString", 6000, cuGetErrorString),
    ONE("cuGetProcAddress", 11030, cuGetProcAddress),
    ONE("cuGetProcAddress", 12000, cuGetProcAddress_v2),
    ONE("cuGetExportTable", 3000, cuGetExportTable),
    ONE("cuLogsRegisterCallback", 12090, cuLogsRegisterCallback),
    ONE("cuLogsUnregisterCallback", 12090, cuLogsUnregisterCallback),
    ONE("cuDeviceGet", 2000, cuDeviceGet),
    ONE("cuDeviceGetCount", 2000, cuDeviceGetCount),
    ONE("cuDeviceGetName", 2000, cuDeviceGetName),
    ONE("cuDeviceGetAttribute", 2000, cuDeviceGetAttribute),
    ONE("cuDeviceTotalMem", 3020, cuDeviceTotalMem_v2),
    ONE("cuDevicePrimaryCtxRetain", 7000, cuDevicePrimaryCtxRetain),
    ONE("cuDevicePrimaryCtxRelease", 11000, cuDevicePrimaryCtxRelease_v2),
    ONE("cuDevicePrimaryCtxGetState", 7000, cuDevicePrimaryCtxGetState),
    ONE("cuCtxCreate", 3020, cuCtxCreate_v2),
    ONE("cuCtxCreate", 12050, cuCtxCreate_v4),
    ONE("cuCtxDestroy", 4000, cuCtxDestroy_v2),
    ONE("cuCtxSetCurrent", 4000, cuCtxSetCurrent),
    ONE("cuCtxGetCurrent", 4000, cuCtxGetCurrent),
    ONE("cuCtxPushCurrent", 4000, cuCtxPushCurrent_v2),
    ONE("cuCtxPopCurrent", 4000, cuCtxPopCurrent_v2),
    ONE("cuCtxGetDevice", 2000, cuCtxGetDevice),
    ONE("cuCtxSynchronize", 2000, cuCtxSynchronize),
    ONE("cuModuleLoad", 2000, cuModuleLoad),
    ONE("cuModuleLoadData", 2000, cuModuleLoadData),
    ONE("cuModuleLoadDataEx", 2010, cuModuleLoadDataEx),
    ONE("cuModuleLoadFatBinary", 2000, cuModuleLoadFatBinary),
    ONE("cuModuleUnload", 2000, cuModuleUnload),
    ONE("cuModuleGetFunction", 2000, cuModuleGetFunction),
    ONE("cuLibraryLoadData", 12000, cuLibraryLoadData),
    ONE("cuLibraryLoadFromFile", 12000, cuLibraryLoadFromFile),
    ONE("cuLibraryUnload", 12000, cuLibraryUnload),
    ONE("cuLibraryGetKernel", 12000, cuLibraryGetKernel),
    ONE("cuLibraryGetModule", 12000, cuLibraryGetModule),
    ONE("cuKernelGetFunction", 12000, cuKernelGetFunction),
    ONE("cuFuncGetName", 12030, cuFuncGetName),
    ONE("cuFuncGetModule", 11000, cuFuncGetModule),
    ONE("cuFuncGetAttribute", 2020, cuFuncGetAttribute),
    ONE("cuFuncSetAttribute", 9000, cuFuncSetAttribute),
    ONE("cuKernelGetAttribute", 12000, cuKernelGetAttribute),
    ONE("cuKernelSetAttribute", 12000, cuKernelSetAttribute),
    TWO("cuLaunchKernel", 4000, cuLaunchKernel, cuLaunchKernel_ptsz),
    TWO("cuLaunchKernelEx", 11060, cuLaunchKernelEx, cuLaunchKernelEx_ptsz),
    TWO("cuLaunchCooperativeKernel", 9000, cuLaunchCooperativeKernel,
        cuLaunchCooperativeKernel_ptsz),
    TWO("cuLaunchHostFunc", 10000, cuLaunchHostFunc, cuLaunchHostFunc_ptsz),
    ONE("cuStreamCreate", 2000, cuStreamCreate),
    ONE("cuStreamCreateWithPriority", 5050, cuStreamCreateWithPriority),
    ONE("cuStreamDestroy", 4000, cuStreamDestroy_v2),
    TWO("cuStreamSynchronize", 2000, cuStreamSynchronize, cuStreamSynchronize_ptsz),
    TWO("cuStreamQuery", 2000, cuStreamQuery, cuStreamQuery_ptsz),
    TWO("cuStreamWaitEvent", 3020, cuStreamWaitEvent, cuStreamWaitEvent_ptsz),
    TWO("cuStreamBeginCapture", 10010, cuStreamBeginCapture_v2, cuStreamBeginCapture_v2_ptsz),
    TWO("cuStreamEndCapture", 10000, cuStreamEndCapture, cuStreamEndCapture_ptsz),
    TWO("cuStreamIsCapturing", 10000, cuStreamIsCapturing, cuStreamIsCapturing_ptsz),
    TWO("cuStreamGetCaptureInfo", 11030, cuStreamGetCaptureInfo_v2, cuStreamGetCaptureInfo_v2_ptsz),
    ONE("cuEventCreate", 2000, cuEventCreate),
    TWO("cuEventRecord", 2000, cuEventRecord, cuEventRecord_ptsz),
    ONE("cuEventQuery", 2000, cuEventQuery),
    ONE("cuEventSynchronize", 2000, cuEventSynchronize),
    ONE("cuEventDestroy", 4000, cuEventDestroy_v2),
    ONE("cuMemAlloc", 3020, cuMemAlloc_v2),
    ONE("cuMemFree", 3020, cuMemFree_v2),
    TWO("cuMemAllocAsync", 11020, cuMemAllocAsync, cuMemAllocAsync_ptsz),
    TWO("cuMemFreeAsync", 11020, cuMemFreeAsync, cuMemFreeAsync_ptsz),
    TWO("cuMemcpyHtoD", 3020, cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_ptds),
    TWO("cuMemcpyDtoH", 3020, cuMemcpyDtoH_v2, cuMemcpyDtoH_v2_ptds),
    TWO("cuMemcpyHtoDAsync", 3020, cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync_v2_ptsz),
    TWO("cuMemcpyDtoHAsync", 3020, cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync_v2_ptsz),
    TWO("cuMemsetD8", 3020, cuMemsetD8_v2, cuMemsetD8_v2_ptds),
    TWO("cuMemsetD8Async", 3020, cuMemsetD8Async, cuMemsetD8Async_ptsz),
    ONE("cuGraphCreate", 10000, cuGraphCreate),
    ONE("cuGraphDestroy", 10000, cuGraphDestroy),
    ONE("cuGraphClone", 10000, cuGraphClone),
    ONE("cuGraphAddKernelNode", 12000, cuGraphAddKernelNode_v2),
    ONE("cuGraphAddEmptyNode", 10000, cuGraphAddEmptyNode),
    ONE("cuGraphAddHostNode", 10000, cuGraphAddHostNode),
    ONE("cuGraphAddMemsetNode", 10000, cuGraphAddMemsetNode),
    ONE("cuGraphAddChildGraphNode", 10000, cuGraphAddChildGraphNode),
    ONE("cuGraphDestroyNode", 10000, cuGraphDestroyNode),
    ONE("cuGraphGetNodes", 10000, cuGraphGetNodes),
    ONE("cuGraphNodeGetType", 10000, cuGraphNodeGetType),
    ONE("cuGraphInstantiate", 11040, cuGraphInstantiateWithFlags),
    ONE("cuGraphInstantiateWithFlags", 11040, cuGraphInstantiateWithFlags),
    TWO("cuGraphInstantiateWithParams", 12000, cuGraphInstantiateWithParams,
        cuGraphInstantiateWithParams_ptsz),
    ONE("cuGraphExecUpdate", 12000, cuGraphExecUpdate_v2),
    ONE("cuGraphExecDestroy", 10000, cuGraphExecDestroy),
    TWO("cuGraphLaunch", 10000, cuGraphLaunch, cuGraphLaunch_ptsz),
};

constexpr uint64_t kPerThreadFlag = 2;
constexpr int kFound = 0;
constexpr int kSymbolNotFound = 1;
constexpr int kVersionNotSufficient = 2;

CUresult FindEntry(const char* symbol, void** function, int version, uint64_t flags, int* status) {
  if (!symbol || !function || flags > kPerThreadFlag) return CUDA_ERROR_INVALID_VALUE;
  *function = nullptr;
  const Entry* best = nullptr;
  bool known = false;
  for (const Entry& entry : kEntries) {
    if (entry.name != symbol) continue;
    known = true;
    if (entry.version <= version && (!best || entry.version > best->version)) best = &entry;
  }
  if (status) *status = best ? kFound : known ? kVersionNotSufficient : kSymbolNotFound;
  if (!best) return CUDA_ERROR_NOT_FOUND;
  *function = flags == kPerThreadFlag && best->per_thread ? best->per_thread : best->plain;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuGetProcAddress(const char* symbol, void** function, int version, uint64_t flags) {
  return FindEntry(symbol, function, version, flags, nullptr);
}
CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, uint64_t flags,
                             int* status) {
  const CUresult result = FindEntry(symbol, function, version, flags, status);
  // With somewhere to write the status, a name that is not there is an answer and no error; the
  // empty name stays one.
  return result == CUDA_ERROR_NOT_FOUND && status && *symbol ? CUDA_SUCCESS : result;
}
CUresult cuGetExportTable(const void** table, const void*) {
  if (table) *table = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}
CUresult cuGetErrorName(CUresult error, const char** name) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  *name = ErrorName(error);
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char** text) { return cuGetErrorName(error, text); }
CUresult cuLogsRegisterCallback(CUlogsCallback callback, void* data, void** handle) {
  World& world = TheWorld();
  const std::lock_guard lock(world.mutex);
  if (!callback) return CUDA_ERROR_INVALID_VALUE;
  world.log = callback;
  world.log_data = data;
  if (handle) *handle = &world.log;
  return CUDA_SUCCESS;
}
CUresult cuLogsUnregisterCallback(void*) {
  World& world = TheWorld();
  const std::lock_guard lock(world.mutex);
  world.log = nullptr;
  return CUDA_SUCCESS;
}
