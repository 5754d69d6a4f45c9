/* A driver whose launches return at once: what a call through the recorder adds can then be
 * measured without anything else in the way. Only what the benchmark calls is here. */
#include <stdint.h>
#include <string.h>

#include "driver_api.h"

static char thing[64];
#define HANDLE ((void*)thing)

CUresult cuInit(unsigned int flags) { return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice device) {
  (void)flags;
  (void)device;
  *context = HANDLE;
  return CUDA_SUCCESS;
}
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  (void)image;
  *module = HANDLE;
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  (void)module;
  (void)name;
  *function = HANDLE;
  return CUDA_SUCCESS;
}
CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  (void)flags;
  *stream = HANDLE;
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared, CUstream stream,
                        void** parameters, void** extra) {
  (void)function, (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y;
  (void)block_z, (void)shared, (void)stream, (void)parameters, (void)extra;
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
  (void)config, (void)function, (void)parameters, (void)extra;
  return CUDA_SUCCESS;
}
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  (void)exec, (void)stream;
  return CUDA_SUCCESS;
}
CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, uint64_t flags,
                             int* status) {
  (void)version, (void)flags;
  *function = strcmp(symbol, "cuLaunchKernel") == 0     ? (void*)cuLaunchKernel
              : strcmp(symbol, "cuLaunchKernelEx") == 0 ? (void*)cuLaunchKernelEx
                                                        : NULL;
  if (status) *status = *function ? 0 : 1;
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
