// The same bits a thousand times, whatever else the GPU does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "cuproof/ops/grad_accumulate.h"
#include "cuproof/ops/grad_norm.h"
#include "device_helpers.h"
#include "launch.h"
#include "norm_outputs.h"

namespace cuproof::ops::test {
namespace {

#include "grad_norm_cases.inc"

constexpr int kRuns = 1000;

const Case& MixedCase() {
  for (const Case& row : kCases) {
    if (std::strcmp(row.name, "mixed_mixed_2000_normal") == 0) return row;
  }
  throw std::runtime_error("no case mixed_mixed_2000_normal");
}

/// Copies within the device on a second stream, as long as it lives.
class Hammer {
 public:
  static constexpr size_t kBytes = 256 << 20;

  Hammer() {
    CUDA_CHECK(cudaMalloc(&a_, kBytes));
    CUDA_CHECK(cudaMalloc(&b_, kBytes));
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  Hammer(const Hammer&) = delete;
  Hammer& operator=(const Hammer&) = delete;
  ~Hammer() {
    (void)cudaStreamSynchronize(stream_);
    (void)cudaStreamDestroy(stream_);
    (void)cudaFree(a_);
    (void)cudaFree(b_);
  }
  void Strike() const {
    CUDA_CHECK(cudaMemcpyAsync(a_, b_, kBytes / 8, cudaMemcpyDeviceToDevice, stream_));
    CUDA_CHECK(cudaMemsetAsync(b_, 0x5a, kBytes / 16, stream_));
  }

 private:
  void* a_ = nullptr;
  void* b_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

class Determinism : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    tensors_ = MakeInputs(MixedCase());
    arrays_ = Place(tensors_, 0, &image_);
    image_.Upload();
    SetPointers(image_, 0, &arrays_);
    const auto list = arrays_.get();
    ASSERT_EQ(cuproof_ops_grad_accumulate_workspace(&list, &bytes_), CUPROOF_OPS_OK);
    size_t norm_bytes = 0;
    ASSERT_EQ(cuproof_ops_grad_norm_workspace(&list, &norm_bytes), CUPROOF_OPS_OK);
    bytes_ = std::max(bytes_, norm_bytes);
    workspace_ = std::make_unique<Workspace>(bytes_);
    workspace_->Poison();
  }

  std::vector<HostTensor> tensors_;
  DeviceImage image_;
  ListArrays arrays_;
  size_t bytes_ = 0;
  std::unique_ptr<Workspace> workspace_;
};

TEST_F(Determinism, AThousandNormsBesideAHammer) {
  const Hammer hammer;
  const size_t count = tensors_.size();
  float* norms = nullptr;  // [kRuns][count + 1]
  CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&norms), kRuns * (count + 1) * 4));
  for (size_t run = 0; run < kRuns; ++run) {
    hammer.Strike();
    cuproof_ops_grad_norm_params params{};
    params.grads = arrays_.get();
    params.out.tensor_norms = norms + run * (count + 1);
    params.out.total_norm = norms + run * (count + 1) + count;
    params.max_ctas = static_cast<int32_t>(run % 5 * 100);
    ASSERT_EQ(cuproof_ops_grad_norm(&params, workspace_->data(), bytes_, TestStream()),
              CUPROOF_OPS_OK)
        << cuproof_ops_last_error();
  }
  CUDA_CHECK(cudaStreamSynchronize(TestStream()));
  std::vector<float> all(kRuns * (count + 1));
  CUDA_CHECK(cudaMemcpy(all.data(), norms, all.size() * 4, cudaMemcpyDeviceToHost));
  for (size_t run = 1; run < kRuns; ++run) {
    ASSERT_EQ(std::memcmp(all.data(), all.data() + run * (count + 1), (count + 1) * 4), 0) << run;
  }
  CUDA_CHECK(cudaFree(norms));
}

TEST_F(Determinism, AThousandAccumulationsBesideAHammer) {
  const Hammer hammer;
  std::vector<HostTensor> before;
  for (const HostTensor& tensor : tensors_) {
    before.push_back(MakeTensor(CUPROOF_OPS_F32, tensor.elements, "normal", 3));
  }
  // Two copies run beside each other, one with few CTAs: after each call they must be equal.
  DeviceImage image[2];
  ListArrays arrays[2] = {arrays_, arrays_};
  NormOutputs outputs[2] = {{static_cast<int64_t>(tensors_.size()), {}, 1},
                            {static_cast<int64_t>(tensors_.size()), {}, 1}};
  for (int copy : {0, 1}) {
    ListArrays accumulators = Place(before, copy == 0 ? 0 : 4, &image[copy]);
    image[copy].Upload();
    SetPointers(image[copy], 0, &accumulators);
    for (void* pointer : accumulators.data) {
      arrays[copy].second.push_back(static_cast<float*>(pointer));
    }
  }
  for (int run = 0; run < kRuns; ++run) {
    hammer.Strike();
    for (int copy : {0, 1}) {
      cuproof_ops_grad_accumulate_params params{};
      params.grads = arrays[copy].get();
      params.accumulators = arrays[copy].second.data();
      params.out = outputs[copy].get();
      params.max_ctas = copy * 60;
      ASSERT_EQ(cuproof_ops_grad_accumulate(&params, workspace_->data(), bytes_, TestStream()),
                CUPROOF_OPS_OK)
          << cuproof_ops_last_error();
    }
    if (run % 50 != 49) continue;
    CUDA_CHECK(cudaStreamSynchronize(TestStream()));
    ASSERT_EQ(outputs[0].Bytes(), outputs[1].Bytes()) << "run " << run;
  }
  for (size_t t = 0; t < tensors_.size(); t += 97) {
    ASSERT_EQ(image[0].Read(static_cast<int>(t)), image[1].Read(static_cast<int>(t))) << t;
  }
}

// A kernel of another stream holds half of the multiprocessors from before the call to after it.
TEST_F(Determinism, WithHalfOfTheMultiprocessorsHeld) {
  NormOutputs outputs(static_cast<int64_t>(tensors_.size()), {}, 1);
  const cuproof_ops_grad_norm_params params{arrays_.get(), outputs.get(), 0};
  const auto call = [&](cudaStream_t stream) {
    return cuproof_ops_grad_norm(&params, workspace_->data(), bytes_, stream);
  };
  RunCall(Launch::kEager, call);
  const auto free_bytes = outputs.Bytes();

  int device = 0;
  int multiprocessors = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  int* stop = nullptr;
  CUDA_CHECK(cudaHostAlloc(reinterpret_cast<void**>(&stop), sizeof(int), cudaHostAllocMapped));
  cudaStream_t other = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  for (const Launch launch : kLaunches) {
    *stop = 0;
    outputs.Poison();
    workspace_->Poison();
    CUDA_CHECK(Spin(multiprocessors / 2, stop, 20000, other));
    RunCall(launch, call);
    EXPECT_EQ(cudaStreamQuery(other), cudaErrorNotReady) << "the spinning ended too early";
    *static_cast<volatile int*>(stop) = 1;
    CUDA_CHECK(cudaStreamSynchronize(other));
    EXPECT_EQ(outputs.Bytes(), free_bytes);
  }
  CUDA_CHECK(cudaStreamDestroy(other));
  CUDA_CHECK(cudaFreeHost(stop));
}

}  // namespace
}  // namespace cuproof::ops::test
