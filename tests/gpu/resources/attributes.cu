// Prints what the runtime says of every kernel, one JSON object a line: its attributes, and how
// many blocks fit a multiprocessor at six block sizes with and without dynamic shared memory.
#include <cstdio>

struct Kernel {
  const char* name;
  const void* function;
};
#include "kernels.inc"

namespace {

constexpr int kBlocks[] = {64, 128, 256, 384, 512, 1024};
constexpr int kDynamic[] = {0, 20000};

void PrintAttributes(const Kernel& kernel) {
  cudaFuncAttributes a{};
  const cudaError_t status = cudaFuncGetAttributes(&a, kernel.function);
  std::printf(
      "{\"kernel\":\"%s\",\"status\":%d,\"sharedSizeBytes\":%zu,\"constSizeBytes\":%zu,"
      "\"localSizeBytes\":%zu,\"maxThreadsPerBlock\":%d,\"numRegs\":%d,\"ptxVersion\":%d,"
      "\"binaryVersion\":%d,\"cacheModeCA\":%d,\"maxDynamicSharedSizeBytes\":%d,"
      "\"preferredShmemCarveout\":%d,\"clusterDimMustBeSet\":%d,\"requiredClusterWidth\":%d,"
      "\"requiredClusterHeight\":%d,\"requiredClusterDepth\":%d,"
      "\"clusterSchedulingPolicyPreference\":%d,\"nonPortableClusterSizeAllowed\":%d,",
      kernel.name, status, a.sharedSizeBytes, a.constSizeBytes, a.localSizeBytes,
      a.maxThreadsPerBlock, a.numRegs, a.ptxVersion, a.binaryVersion, a.cacheModeCA,
      a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout, a.clusterDimMustBeSet,
      a.requiredClusterWidth, a.requiredClusterHeight, a.requiredClusterDepth,
      a.clusterSchedulingPolicyPreference, a.nonPortableClusterSizeAllowed);
}

/// Whether the kernel may have more than 48 KB: half of those that need it do.
bool OptIn(const Kernel& kernel, bool wanted) {
  cudaFuncAttributes a{};
  cudaFuncGetAttributes(&a, kernel.function);
  if (!wanted || a.sharedSizeBytes + kDynamic[1] <= 49152) return false;
  return cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              kDynamic[1]) == cudaSuccess;
}

void PrintOccupancy(const Kernel& kernel, bool opted_in) {
  const char* comma = "";
  std::printf("\"opted_in\":%s,\"occupancy\":[", opted_in ? "true" : "false");
  for (const int dynamic : kDynamic) {
    for (const int block : kBlocks) {
      int blocks = -1;
      const cudaError_t status =
          cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.function, block, dynamic);
      std::printf("%s{\"block\":%d,\"dynamic\":%d,\"status\":%d,\"blocks\":%d}", comma, block,
                  dynamic, status, blocks);
      comma = ",";
    }
  }
  std::printf("]}\n");
  std::fflush(stdout);
}

}  // namespace

int main() {
  int driver = 0, runtime = 0, device = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  cudaDeviceProp properties{};
  const cudaError_t status = cudaGetDeviceProperties(&properties, device);
  std::printf(
      "{\"device\":\"%s\",\"sm\":%d,\"multiprocessors\":%d,\"driver\":%d,\"runtime\":%d,"
      "\"status\":%d}\n",
      properties.name, properties.major * 10 + properties.minor, properties.multiProcessorCount,
      driver, runtime, status);
  if (status != cudaSuccess) return 1;
  bool wanted = false;
  for (const Kernel& kernel : kKernels) {
    PrintAttributes(kernel);
    wanted = !wanted;
    PrintOccupancy(kernel, OptIn(kernel, wanted));
  }
  return 0;
}
