// A tensor past 2^31 elements: its content is mostly zero, so that the reference is known by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "cuproof/ops/grad_accumulate.h"
#include "cuproof/ops/grad_norm.h"
#include "cuproof/ops/grad_scale.h"
#include "cuproof/ops/nonfinite_guard.h"
#include "launch.h"
#include "norm_outputs.h"

namespace cuproof::ops::test {
namespace {

constexpr int64_t kElements = (int64_t{1} << 31) + 12345;
constexpr int64_t kSet[] = {0, 131071, (int64_t{1} << 31) - 1, int64_t{1} << 31, kElements - 1};
constexpr uint16_t kOne = 0x3f80;  // bf16
constexpr uint16_t kTwo = 0x4000;
constexpr uint16_t kNan = 0x7fc1;

/// kElements of bf16 and one guard word behind them.
class HugeTensor : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    size_t free_bytes = 0;
    size_t all_bytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
    if (free_bytes < size_t{16} << 30) GTEST_SKIP() << "less than 16 GiB free on the GPU";
    CUDA_CHECK(cudaMalloc(&data_, (kElements + 8) * 2));
    CUDA_CHECK(cudaMemset(data_, 0, (kElements + 8) * 2));
    for (const int64_t index : kSet) Set(index, kOne);
    list_ = {&data_, &elements_, &dtype_, 1};
    ASSERT_EQ(cuproof_ops_grad_norm_workspace(&list_, &bytes_), CUPROOF_OPS_OK);
    workspace_ = std::make_unique<Workspace>(bytes_);
    workspace_->Poison();
  }

  void TearDown() override { (void)cudaFree(data_); }

  void Set(int64_t index, uint16_t bits) const {
    CUDA_CHECK(cudaMemcpy(static_cast<uint16_t*>(data_) + index, &bits, 2, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaDeviceSynchronize());
  }
  uint16_t Get(int64_t index) const {
    uint16_t bits = 0;
    CUDA_CHECK(cudaMemcpy(&bits, static_cast<uint16_t*>(data_) + index, 2, cudaMemcpyDeviceToHost));
    return bits;
  }

  NormValues Norm(int max_ctas) {
    NormOutputs outputs(1, {}, 0);
    const cuproof_ops_grad_norm_params params{list_, outputs.get(), max_ctas};
    workspace_->Poison();
    RunCall(Launch::kEager, [&](cudaStream_t stream) {
      return cuproof_ops_grad_norm(&params, workspace_->data(), bytes_, stream);
    });
    return outputs.Read();
  }

  void* data_ = nullptr;
  int64_t elements_ = kElements;
  uint8_t dtype_ = CUPROOF_OPS_BF16;
  cuproof_ops_tensor_list list_{};
  size_t bytes_ = 0;
  std::unique_ptr<Workspace> workspace_;
};

TEST_F(HugeTensor, Norm) {
  for (const int max_ctas : {0, 1000}) {
    const NormValues got = Norm(max_ctas);
    EXPECT_EQ(got.total_norm, std::sqrt(5.0f));
    EXPECT_EQ(got.found_inf, 0);
  }
}

TEST_F(HugeTensor, ABadElementPast2To31HasItsIndex) {
  constexpr int64_t kBad = (int64_t{1} << 31) + 777;
  Set(kBad, kNan);
  Set(kElements - 2, kNan);
  const NormValues got = Norm(0);
  EXPECT_TRUE(std::isnan(got.total_norm));
  EXPECT_EQ(got.found_inf, 1);
  EXPECT_EQ(got.first_bad.tensor, 0);
  EXPECT_EQ(got.first_bad.index, kBad);
  EXPECT_EQ(got.first_bad.bits, kNan);

  DeviceImage outputs;
  const int ring = outputs.AddFilled(cuproof_ops_guard_ring_bytes(2), 0);
  outputs.Upload();
  RunCall(Launch::kEager, [&](cudaStream_t stream) {
    return cuproof_ops_guard_ring_init(outputs.at(ring), cuproof_ops_guard_ring_bytes(2), 2,
                                       stream);
  });
  cuproof_ops_nonfinite_guard_params params{};
  params.tensors = list_;
  params.ring = outputs.at(ring);
  RunCall(Launch::kEager, [&](cudaStream_t stream) {
    return cuproof_ops_nonfinite_guard(&params, workspace_->data(), bytes_, stream);
  });
  cuproof_ops_guard_record record{};
  CUDA_CHECK(cudaMemcpy(&record, static_cast<char*>(outputs.at(ring)) + 64, sizeof(record),
                        cudaMemcpyDeviceToHost));
  EXPECT_EQ(record.index, kBad);
}

TEST_F(HugeTensor, Scale) {
  const float factor = 2;
  DeviceImage scalar;
  scalar.Add(&factor, 4, 0);
  scalar.Upload();
  cuproof_ops_grad_scale_params params{};
  params.grads = list_;
  params.factor = static_cast<const float*>(scalar.at(0));
  Set(kElements, kOne);
  RunCall(Launch::kEager,
          [&](cudaStream_t stream) { return cuproof_ops_grad_scale(&params, stream); });
  for (const int64_t index : kSet) EXPECT_EQ(Get(index), kTwo) << index;
  EXPECT_EQ(Get(kElements), kOne) << "one element too many";
  // Nothing but them is set: their norm says so.
  EXPECT_EQ(Norm(0).total_norm, std::sqrt(20.0f));
}

TEST_F(HugeTensor, Accumulate) {
  float* accumulator = nullptr;
  CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&accumulator), (kElements + 4) * 4));
  CUDA_CHECK(cudaMemset(accumulator, 0, (kElements + 4) * 4));
  NormOutputs outputs(1, {}, 0);
  cuproof_ops_grad_accumulate_params params{};
  params.grads = list_;
  params.accumulators = &accumulator;
  params.out = outputs.get();
  for (int call = 1; call <= 2; ++call) {
    workspace_->Poison();
    RunCall(Launch::kEager, [&](cudaStream_t stream) {
      return cuproof_ops_grad_accumulate(&params, workspace_->data(), bytes_, stream);
    });
    EXPECT_EQ(outputs.Read().total_norm, std::sqrt(5.0f * static_cast<float>(call * call)));
  }
  for (const int64_t index : kSet) {
    float value = 0;
    CUDA_CHECK(cudaMemcpy(&value, accumulator + index, 4, cudaMemcpyDeviceToHost));
    EXPECT_EQ(value, 2) << index;
  }
  CUDA_CHECK(cudaFree(accumulator));
}

}  // namespace
}  // namespace cuproof::ops::test
