#pragma once
// What the hooks need of the driver API's binary interface. The shapes are public (CUDA Driver API
// reference manual, sections of the named types) and have not changed since the release given.
#include <cstddef>
#include <cstdint>

namespace cuproof::inject {

using Handle = void*;  // CUfunction, CUkernel, CUmodule, CUlibrary, CUstream, CUgraph, …

/// A number in the place of a handle, or a handle that was kept as a number.
inline void* AsHandle(uintptr_t number) {
  return reinterpret_cast<void*>(number);  // NOLINT(performance-no-int-to-ptr): that is its purpose
}

inline constexpr int kSuccess = 0;
// CUDA_ERROR_DEINITIALIZED: what destructors of static objects are told when the driver has gone
// first. Every program with cudart ends with some.
inline constexpr int kErrorDeinitialized = 4;
inline constexpr int kErrorNotFound = 500;
inline constexpr int kErrorNotReady = 600;  // an answer of queries, no fault

inline constexpr uintptr_t kLegacyStream = 1;     // CU_STREAM_LEGACY
inline constexpr uintptr_t kPerThreadStream = 2;  // CU_STREAM_PER_THREAD

// CUlaunchAttribute: 8 bytes of id and padding, then a union of 64 bytes (11.8 and later).
struct LaunchAttribute {
  uint32_t id;
  uint32_t padding;
  uint8_t value[64];
};
static_assert(sizeof(LaunchAttribute) == 72);
inline constexpr uint32_t kAttributeCooperative = 2;
inline constexpr uint32_t kAttributeCluster = 4;
inline constexpr uint32_t kAttributeProgrammaticStream = 6;
inline constexpr uint32_t kAttributeProgrammaticEvent = 7;

// CUlaunchConfig (11.8 and later).
struct LaunchConfig {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared;
  Handle stream;
  const LaunchAttribute* attributes;
  uint32_t attribute_count;
};
static_assert(offsetof(LaunchConfig, stream) == 32 && sizeof(LaunchConfig) == 56);

// CUDA_LAUNCH_PARAMS of cuLaunchCooperativeKernelMultiDevice (9.0 to 12.x).
struct CooperativeLaunch {
  Handle function;
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared;
  Handle stream;
  void** parameters;
};
static_assert(sizeof(CooperativeLaunch) == 56);

// The common start of CUDA_KERNEL_NODE_PARAMS (10.0), _v2 and _v3 (12.0).
struct KernelNode {
  Handle function;
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared;
  uint32_t padding;
  void** parameters;
  void** extra;
};
static_assert(offsetof(KernelNode, parameters) == 40);
// _v2 and _v3 go on with a CUkernel, which counts where `function` is null.
struct KernelNodeV2 {
  KernelNode node;
  Handle kernel;
};

// CUgraphNodeParams (12.2): a type, then at byte 16 the parameters of that type.
struct GraphNode {
  uint32_t type;
  uint32_t reserved[3];
  KernelNodeV2 kernel;
};
static_assert(offsetof(GraphNode, kernel) == 16);

// CUgraphNodeType.
enum NodeType : uint32_t {
  kNodeKernel = 0,
  kNodeMemcpy = 1,
  kNodeMemset = 2,
  kNodeHost = 3,
  kNodeChild = 4,
  kNodeEmpty = 5,
  kNodeEventWait = 6,
  kNodeEventRecord = 7,
  kNodeMemAlloc = 10,
  kNodeMemFree = 11,
};

// CUjit_option.
inline constexpr uint32_t kJitErrorLogBuffer = 5;
inline constexpr uint32_t kJitErrorLogBytes = 6;

// CUfunction_attribute.
inline constexpr int kFunctionAttributes = 16;
inline constexpr int kFunctionMaxDynamicShared = 8;

}  // namespace cuproof::inject
