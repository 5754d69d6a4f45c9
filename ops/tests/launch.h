// Ways to run a call, and what a test needs of CUDA around it.
#ifndef CUPROOF_OPS_TESTS_LAUNCH_H
#define CUPROOF_OPS_TESTS_LAUNCH_H

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cases.h"
#include "cuproof/ops/status.h"
#include "device_image.h"
#include "inputs.h"

/// Throws, which ends the test: after a failure of CUDA nothing more can be told.
#define CUDA_CHECK(call) ::cuproof::ops::test::CheckCudaCall((call), #call, __FILE__, __LINE__)

namespace cuproof::ops::test {

void CheckCudaCall(cudaError_t error, const char* call, const char* file, int line);

/// Why there is no usable GPU; empty where there is one.
const std::string& NoGpuReason();

/// Base of all tests that launch something.
class GpuTest : public testing::Test {
 protected:
  void SetUp() override;
};

class GpuCaseTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override;
};

inline std::string CaseName(const testing::TestParamInfo<Case>& info) { return info.param.name; }

enum class Launch { kEager, kGraph };
inline constexpr Launch kLaunches[] = {Launch::kEager, Launch::kGraph};

using Call = std::function<cuproof_ops_status(cudaStream_t)>;

/// A stream that does not wait for the default one.
cudaStream_t TestStream();

/// A captured call, ready to replay. Capture is strict and global; every node must be a kernel.
class Graph {
 public:
  explicit Graph(const Call& call);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  size_t nodes() const { return nodes_; }
  void Replay() const;  // and wait

 private:
  size_t nodes_ = 0;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

/// Runs the call and waits; it must succeed.
void RunCall(Launch launch, const Call& call);

/// Nodes that a capture of the call has, whatever it returned.
size_t CountNodes(const Call& call);

/// The tensors on the device, `offset` bytes (at least one element) behind an aligned address.
ListArrays Place(const std::vector<HostTensor>& tensors, size_t offset, DeviceImage* image);

/// Device pointers for parts that Place added, once the image is uploaded.
void SetPointers(const DeviceImage& image, int first_part, ListArrays* arrays);

/// Workspace between guards, full of 0xFF before each run. With CUPROOF_OPS_TESTS_RAW_WORKSPACE set
/// it is fresh memory instead, so that initcheck sees what is read of it before it is written.
class Workspace {
 public:
  explicit Workspace(size_t bytes);
  ~Workspace();
  void Poison();
  void* data() const;
  size_t bytes() const { return bytes_; }
  testing::AssertionResult GuardsAreIntact() const;

 private:
  size_t bytes_;
  DeviceImage image_;
  void* raw_ = nullptr;
};

}  // namespace cuproof::ops::test

#endif
