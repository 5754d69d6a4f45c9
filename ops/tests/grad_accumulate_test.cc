#include "cuproof/ops/grad_accumulate.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "grad/grad_reference.h"
#include "launch.h"
#include "norm_outputs.h"

namespace cuproof::ops::test {
namespace {

#include "grad_accumulate_cases.inc"

std::vector<HostTensor> AccumulatorsFor(const std::vector<HostTensor>& gradients) {
  std::vector<HostTensor> accumulators;
  for (const HostTensor& gradient : gradients) {
    accumulators.push_back(
        MakeTensor(CUPROOF_OPS_F32, gradient.elements, "normal", 1000 + accumulators.size()));
  }
  return accumulators;
}

std::vector<HostTensor> Sums(const std::vector<HostTensor>& gradients,
                             const std::vector<HostTensor>& before, bool overwrite) {
  std::vector<HostTensor> sums = before;
  for (size_t t = 0; t < sums.size(); ++t) {
    for (int64_t i = 0; i < sums[t].elements; ++i) {
      const auto dtype = gradients[t].dtype;
      const uint32_t gradient = reference::ElementBits(gradients[t].bytes.data(), dtype, i);
      float sum;
      if (overwrite) {
        sum = reference::ToFloat(gradient, dtype);
      } else {
        const uint32_t old = reference::ElementBits(before[t].bytes.data(), CUPROOF_OPS_F32, i);
        sum = reference::Accumulate(reference::ToFloat(old, CUPROOF_OPS_F32), gradient, dtype);
      }
      std::memcpy(sums[t].bytes.data() + i * 4, &sum, 4);
    }
  }
  return sums;
}

class GradAccumulateCases : public GpuCaseTest {};

TEST_P(GradAccumulateCases, MatchTheReferenceInEveryWay) {
  const Case& row = GetParam();
  const auto gradients = MakeInputs(row);
  const auto before = AccumulatorsFor(gradients);
  const auto loss_scale = LossScaleFor(row.name);
  const float max_norm = MaxNormFor(row.name);
  for (const bool overwrite : {false, true}) {
    const auto sums = Sums(gradients, before, overwrite);
    std::vector<unsigned char> first;
    for (const int offset : k_offset_bytes) {
      if (IsLarge(row) && offset > 2) break;
      DeviceImage gradient_image;
      ListArrays arrays = Place(gradients, static_cast<size_t>(offset), &gradient_image);
      gradient_image.Upload();
      SetPointers(gradient_image, 0, &arrays);
      DeviceImage accumulator_image;
      // 8 and 0 together: one aligned to a vector, the other not.
      ListArrays accumulators =
          Place(before, offset == 8 ? 0 : static_cast<size_t>(offset), &accumulator_image);
      accumulator_image.Upload();
      SetPointers(accumulator_image, 0, &accumulators);
      for (void* pointer : accumulators.data) arrays.second.push_back(static_cast<float*>(pointer));
      for (size_t t = 0; t < sums.size(); ++t) {
        accumulator_image.Expect(static_cast<int>(t), sums[t].bytes.data());
      }
      const auto list = arrays.get();
      size_t bytes = 0;
      ASSERT_EQ(cuproof_ops_grad_accumulate_workspace(&list, &bytes), CUPROOF_OPS_OK);
      Workspace workspace(bytes);
      NormOutputs outputs(row.count, loss_scale, max_norm);
      for (const Launch launch : kLaunches) {
        for (const int max_ctas : k_max_ctas) {
          SCOPED_TRACE("offset " + std::to_string(offset) + ", max_ctas " +
                       std::to_string(max_ctas) + (launch == Launch::kGraph ? ", graph" : "") +
                       (overwrite ? ", overwrite" : ""));
          outputs.Poison();
          workspace.Poison();
          accumulator_image.Restore();
          ListArrays during_call = arrays;
          RunCall(launch, [&](cudaStream_t stream) {
            cuproof_ops_grad_accumulate_params params{};
            params.grads = during_call.get();
            params.accumulators = during_call.second.data();
            params.overwrite = overwrite ? 1 : 0;
            params.out = outputs.get();
            params.max_ctas = max_ctas;
            const auto status =
                cuproof_ops_grad_accumulate(&params, workspace.data(), bytes, stream);
            during_call.Scramble();
            return status;
          });
          if (first.empty()) {
            ExpectNorm(outputs.Read(), HostList(sums).get(), loss_scale, max_norm);
            first = outputs.Bytes();
          }
          ASSERT_EQ(outputs.Bytes(), first) << "other bits than in the first run";
          ASSERT_TRUE(accumulator_image.IsAsExpected(CUPROOF_OPS_F32));
          ASSERT_TRUE(gradient_image.IsAsExpected()) << "the gradients are only to be read";
          ASSERT_TRUE(outputs.GuardsAreIntact());
          ASSERT_TRUE(workspace.GuardsAreIntact());
          if (HasFailure()) return;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Spec, GradAccumulateCases, testing::ValuesIn(kCases), CaseName);

class GradAccumulate : public GpuTest {};

TEST_F(GradAccumulate, ALaterNormOfTheAccumulatorsHasTheSameBits) {
  const std::vector<HostTensor> gradients = {MakeTensor(CUPROOF_OPS_BF16, 100003, "normal", 1),
                                             MakeTensor(CUPROOF_OPS_F16, 17, "normal", 2),
                                             MakeTensor(CUPROOF_OPS_F32, 65537, "normal", 3)};
  const auto before = AccumulatorsFor(gradients);
  DeviceImage image;
  ListArrays arrays = Place(gradients, 0, &image);
  ListArrays accumulators = Place(before, 0, &image);
  image.Upload();
  SetPointers(image, 0, &arrays);
  SetPointers(image, 3, &accumulators);
  for (void* pointer : accumulators.data) arrays.second.push_back(static_cast<float*>(pointer));
  NormOutputs fused(3, {}, 1);
  NormOutputs later(3, {}, 1);
  cuproof_ops_grad_accumulate_params params{};
  params.grads = arrays.get();
  params.accumulators = arrays.second.data();
  params.out = fused.get();
  size_t bytes = 0;
  ASSERT_EQ(cuproof_ops_grad_accumulate_workspace(&params.grads, &bytes), CUPROOF_OPS_OK);
  Workspace workspace(bytes);
  workspace.Poison();
  RunCall(Launch::kEager, [&](cudaStream_t stream) {
    return cuproof_ops_grad_accumulate(&params, workspace.data(), bytes, stream);
  });
  const cuproof_ops_grad_norm_params norm{accumulators.get(), later.get(), 0};
  RunCall(Launch::kEager, [&](cudaStream_t stream) {
    return cuproof_ops_grad_norm(&norm, workspace.data(), bytes, stream);
  });
  EXPECT_EQ(fused.Bytes(), later.Bytes());
}

// Memory of the stream's own order: allocated before the call, freed behind it, used again at once.
TEST_F(GradAccumulate, StreamOrderedMemory) {
  constexpr int64_t kElements = 3 << 20;
  cudaStream_t stream = TestStream();
  const auto gradient = MakeTensor(CUPROOF_OPS_BF16, kElements, "normal", 1);
  const auto zero = MakeTensor(CUPROOF_OPS_F32, kElements, "zeros", 1);
  const auto sums = Sums({gradient}, {zero}, true);
  NormOutputs outputs(1, {}, 0);
  std::vector<unsigned char> first;
  std::vector<unsigned char> got(sums[0].bytes.size());
  for (int round = 0; round < 50; ++round) {
    void* data = nullptr;
    float* accumulator = nullptr;
    void* workspace = nullptr;
    size_t bytes = 0;
    const int64_t elements = kElements;
    const uint8_t dtype = CUPROOF_OPS_BF16;
    CUDA_CHECK(cudaMallocAsync(&data, gradient.bytes.size(), stream));
    CUDA_CHECK(cudaMallocAsync(reinterpret_cast<void**>(&accumulator), kElements * 4, stream));
    cuproof_ops_grad_accumulate_params params{};
    params.grads = {&data, &elements, &dtype, 1};
    params.accumulators = &accumulator;
    params.overwrite = 1;
    params.out = outputs.get();
    ASSERT_EQ(cuproof_ops_grad_accumulate_workspace(&params.grads, &bytes), CUPROOF_OPS_OK);
    CUDA_CHECK(cudaMallocAsync(&workspace, bytes, stream));
    CUDA_CHECK(cudaMemsetAsync(accumulator, 0xff, kElements * 4, stream));
    CUDA_CHECK(cudaMemsetAsync(workspace, 0xff, bytes, stream));
    CUDA_CHECK(cudaMemcpyAsync(data, gradient.bytes.data(), gradient.bytes.size(),
                               cudaMemcpyHostToDevice, stream));
    ASSERT_EQ(cuproof_ops_grad_accumulate(&params, workspace, bytes, stream), CUPROOF_OPS_OK)
        << cuproof_ops_last_error();
    CUDA_CHECK(cudaFreeAsync(data, stream));
    CUDA_CHECK(cudaFreeAsync(workspace, stream));
    // Likely the same memory: written only after the call that read it.
    void* reused = nullptr;
    CUDA_CHECK(cudaMallocAsync(&reused, gradient.bytes.size(), stream));
    CUDA_CHECK(cudaMemsetAsync(reused, 0xff, gradient.bytes.size(), stream));
    CUDA_CHECK(cudaFreeAsync(reused, stream));
    CUDA_CHECK(
        cudaMemcpyAsync(got.data(), accumulator, got.size(), cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaFreeAsync(accumulator, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    ASSERT_EQ(got, sums[0].bytes);
    if (round == 0) {
      first = outputs.Bytes();
      ExpectNorm(outputs.Read(), HostList(sums).get(), {}, 0);
    }
    ASSERT_EQ(outputs.Bytes(), first);
  }
}

}  // namespace
}  // namespace cuproof::ops::test
