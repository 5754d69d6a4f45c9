// Launches what it is told to, one line of standard input each, and prints the driver's answers as
// JSON:
//   ID KERNEL GRIDX GRIDY GRIDZ BLOCKX BLOCKY BLOCKZ DYNAMIC OPTIN CLUSTERX NONPORTABLE
// OPTIN is the value given to MAX_DYNAMIC_SHARED_SIZE_BYTES, or -1; CLUSTERX 0 is no attribute.
// Attributes stay with a function, so the module is loaded anew for each case. A launch that is
// taken and then fails leaves a broken context: the program ends, and says so. usage: launches
// CUBIN < CASES
#include <cuda.h>

#include <cstdio>
#include <cstring>

namespace {

template <class Function>
Function Driver(const char* name) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault, &found);
  return reinterpret_cast<Function>(entry);
}

#define DRIVER(NAME) const auto NAME = Driver<decltype(&::NAME)>(#NAME)

struct Case {
  char id[64], kernel[64];
  unsigned grid[3], block[3];
  int dynamic, optin, cluster, nonportable;
};

bool Read(Case& c) {
  return std::scanf("%63s %63s %u %u %u %u %u %u %d %d %d %d", c.id, c.kernel, &c.grid[0],
                    &c.grid[1], &c.grid[2], &c.block[0], &c.block[1], &c.block[2], &c.dynamic,
                    &c.optin, &c.cluster, &c.nonportable) == 12;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  cudaFree(nullptr);
  DRIVER(cuModuleLoad);
  DRIVER(cuModuleUnload);
  DRIVER(cuModuleGetFunction);
  DRIVER(cuFuncSetAttribute);
  DRIVER(cuLaunchKernelEx);
  DRIVER(cuCtxSynchronize);
  if (!cuModuleLoad || !cuLaunchKernelEx) {
    std::printf("{\"error\":\"no driver\"}\n");
    return 1;
  }
  Case c;
  while (Read(c)) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    CUresult got = cuModuleLoad(&module, words[1]);
    if (!got) got = cuModuleGetFunction(&function, module, c.kernel);
    int opted = 0, portable = 0;
    if (c.optin >= 0)
      opted =
          cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, c.optin);
    if (c.nonportable)
      portable =
          cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = static_cast<unsigned>(c.cluster);
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    CUlaunchConfig config{};
    config.gridDimX = c.grid[0];
    config.gridDimY = c.grid[1];
    config.gridDimZ = c.grid[2];
    config.blockDimX = c.block[0];
    config.blockDimY = c.block[1];
    config.blockDimZ = c.block[2];
    config.sharedMemBytes = static_cast<unsigned>(c.dynamic);
    config.attrs = &attribute;
    config.numAttrs = c.cluster > 0 ? 1 : 0;
    void* pointer = nullptr;
    int number = 0;
    void* arguments[] = {&pointer, &number};
    const CUresult launched = got ? got : cuLaunchKernelEx(&config, function, arguments, nullptr);
    const CUresult ran = launched ? CUDA_SUCCESS : cuCtxSynchronize();
    std::printf(
        "{\"id\":\"%s\",\"found\":%d,\"optin\":%d,\"nonportable\":%d,\"launch\":%d,\"run\":%d}\n",
        c.id, got, opted, portable, launched, ran);
    std::fflush(stdout);
    if (ran) return 1;
    cuModuleUnload(module);
  }
  return 0;
}
