#include "cuproof/ops/grad_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "grad/grad_reference.h"
#include "launch.h"
#include "norm_outputs.h"

namespace cuproof::ops::test {
namespace {

#include "grad_norm_cases.inc"

class GradNormCases : public GpuCaseTest {};

TEST_P(GradNormCases, MatchTheReferenceInEveryWay) {
  const Case& row = GetParam();
  const auto tensors = MakeInputs(row);
  const auto loss_scale = LossScaleFor(row.name);
  const float max_norm = MaxNormFor(row.name);
  std::vector<unsigned char> first;
  for (const int offset : k_offset_bytes) {
    if (IsLarge(row) && offset > 2) break;
    DeviceImage image;
    ListArrays arrays = Place(tensors, static_cast<size_t>(offset), &image);
    image.Upload();
    SetPointers(image, 0, &arrays);
    const auto list = arrays.get();
    size_t bytes = 0;
    ASSERT_EQ(cuproof_ops_grad_norm_workspace(&list, &bytes), CUPROOF_OPS_OK);
    Workspace workspace(bytes);
    NormOutputs outputs(row.count, loss_scale, max_norm);
    for (const Launch launch : kLaunches) {
      for (const int max_ctas : k_max_ctas) {
        SCOPED_TRACE("offset " + std::to_string(offset) + ", max_ctas " + std::to_string(max_ctas) +
                     (launch == Launch::kGraph ? ", graph" : ""));
        outputs.Poison();
        workspace.Poison();
        ListArrays during_call = arrays;
        RunCall(launch, [&](cudaStream_t stream) {
          const cuproof_ops_grad_norm_params params{during_call.get(), outputs.get(), max_ctas};
          const auto status = cuproof_ops_grad_norm(&params, workspace.data(), bytes, stream);
          during_call.Scramble();
          return status;
        });
        if (first.empty()) {
          ExpectNorm(outputs.Read(), HostList(tensors).get(), loss_scale, max_norm);
          first = outputs.Bytes();
        }
        ASSERT_EQ(outputs.Bytes(), first) << "other bits than in the first run";
        ASSERT_TRUE(outputs.GuardsAreIntact());
        ASSERT_TRUE(workspace.GuardsAreIntact());
        ASSERT_TRUE(image.IsAsExpected()) << "the gradients are only to be read";
        if (HasFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Spec, GradNormCases, testing::ValuesIn(kCases), CaseName);

class GradNorm : public GpuTest {
 protected:
  /// Runs with fresh outputs; eager.
  NormValues Norm(const std::vector<HostTensor>& tensors, std::optional<float> loss_scale = {},
                  float max_norm = 0, size_t offset = 0) {
    DeviceImage image;
    ListArrays arrays = Place(tensors, offset, &image);
    image.Upload();
    SetPointers(image, 0, &arrays);
    NormOutputs outputs(static_cast<int64_t>(tensors.size()), loss_scale, max_norm);
    const cuproof_ops_grad_norm_params params{arrays.get(), outputs.get(), 0};
    size_t bytes = 0;
    EXPECT_EQ(cuproof_ops_grad_norm_workspace(&params.grads, &bytes), CUPROOF_OPS_OK);
    Workspace workspace(bytes);
    workspace.Poison();
    RunCall(Launch::kEager, [&](cudaStream_t stream) {
      return cuproof_ops_grad_norm(&params, workspace.data(), bytes, stream);
    });
    return outputs.Read();
  }
};

TEST_F(GradNorm, IntegersWhoseSquaresFp32HoldsAreExact) {
  for (const auto dtype : {CUPROOF_OPS_F32, CUPROOF_OPS_F16, CUPROOF_OPS_BF16}) {
    for (const int64_t elements : {1, 1000, 32768, 100003}) {
      const std::vector<HostTensor> tensors = {MakeTensor(dtype, elements, "exact_integers", 5)};
      const double squares = reference::SumOfSquares(HostList(tensors).get());
      EXPECT_EQ(Norm(tensors).total_norm, static_cast<float>(std::sqrt(squares))) << elements;
    }
  }
}

TEST_F(GradNorm, ASecondListOfEqualSizesIsReadItself) {
  for (const Launch launch : kLaunches) {
    const std::vector<HostTensor> a = {MakeTensor(CUPROOF_OPS_F32, 5000, "normal", 1)};
    const std::vector<HostTensor> b = {MakeTensor(CUPROOF_OPS_F32, 5000, "constant", 1)};
    DeviceImage image;
    ListArrays arrays = Place(a, 0, &image);
    Place(b, 0, &image);
    image.Upload();
    for (const int part : {0, 1}) {
      SetPointers(image, part, &arrays);
      NormOutputs outputs(1, {}, 0);
      const cuproof_ops_grad_norm_params params{arrays.get(), outputs.get(), 0};
      size_t bytes = 0;
      ASSERT_EQ(cuproof_ops_grad_norm_workspace(&params.grads, &bytes), CUPROOF_OPS_OK);
      Workspace workspace(bytes);
      workspace.Poison();
      RunCall(launch, [&](cudaStream_t stream) {
        return cuproof_ops_grad_norm(&params, workspace.data(), bytes, stream);
      });
      ExpectNorm(outputs.Read(), HostList(part == 0 ? a : b).get(), {}, 0);
    }
  }
}

// One CTA takes its time over 80 chunks: a second kernel that does not wait reads poison.
TEST_F(GradNorm, TheSecondKernelComesAfterASlowFirst) {
  const std::vector<HostTensor> tensors = {MakeTensor(CUPROOF_OPS_BF16, 80 * 32768, "normal", 1)};
  DeviceImage image;
  ListArrays arrays = Place(tensors, 2, &image);
  image.Upload();
  SetPointers(image, 0, &arrays);
  NormOutputs outputs(1, {}, 0);
  const cuproof_ops_grad_norm_params params{arrays.get(), outputs.get(), 1};
  size_t bytes = 0;
  ASSERT_EQ(cuproof_ops_grad_norm_workspace(&params.grads, &bytes), CUPROOF_OPS_OK);
  Workspace workspace(bytes);
  for (const Launch launch : kLaunches) {
    outputs.Poison();
    workspace.Poison();
    RunCall(launch, [&](cudaStream_t stream) {
      return cuproof_ops_grad_norm(&params, workspace.data(), bytes, stream);
    });
    ExpectNorm(outputs.Read(), HostList(tensors).get(), {}, 0);
  }
}

// One more, empty tensor takes a list to a larger page, or to the other ending kernel.
TEST_F(GradNorm, AnEmptyTensorMoreChangesNoBits) {
  for (const size_t count : {1, 16, 64, 256, 1344, 2031}) {
    std::vector<HostTensor> tensors;
    for (size_t t = 0; t < count; ++t) {
      const int64_t elements = t % 7 == 3 ? 40000 : static_cast<int64_t>(t % 50);
      tensors.push_back(MakeTensor(CUPROOF_OPS_BF16, elements, "normal", t));
    }
    const NormValues before = Norm(tensors);
    tensors.push_back(MakeTensor(CUPROOF_OPS_F32, 0, "zeros", 0));
    NormValues after = Norm(tensors);
    EXPECT_EQ(after.total_norm, before.total_norm) << count;
    EXPECT_EQ(after.tensor_norms.back(), 0);
    after.tensor_norms.pop_back();
    EXPECT_EQ(after.tensor_norms, before.tensor_norms) << count;
  }
}

TEST_F(GradNorm, EachOutputAlone) {
  const std::vector<HostTensor> tensors = {MakeTensor(CUPROOF_OPS_F32, 5000, "normal", 1),
                                           MakeTensor(CUPROOF_OPS_BF16, 77, "normal", 2)};
  const NormValues all = Norm(tensors, 4.0f, 1);
  DeviceImage image;
  ListArrays arrays = Place(tensors, 0, &image);
  image.Upload();
  SetPointers(image, 0, &arrays);
  NormOutputs outputs(2, 4.0f, 1);
  cuproof_ops_grad_norm_params params{arrays.get(), {}, 0};
  size_t bytes = 0;
  ASSERT_EQ(cuproof_ops_grad_norm_workspace(&params.grads, &bytes), CUPROOF_OPS_OK);
  Workspace workspace(bytes);
  workspace.Poison();
  outputs.Poison();
  const auto every = outputs.get();
  const auto run = [&] {
    params.out.loss_scale = every.loss_scale;
    params.out.max_norm = every.max_norm;
    RunCall(Launch::kEager, [&](cudaStream_t stream) {
      return cuproof_ops_grad_norm(&params, workspace.data(), bytes, stream);
    });
    params.out = {};
  };
  run();
  params.out.total_norm = every.total_norm;
  run();
  EXPECT_EQ(outputs.Read().total_norm, all.total_norm);
  EXPECT_TRUE(std::isnan(outputs.Read().factor));
  params.out.tensor_norms = every.tensor_norms;
  run();
  EXPECT_EQ(outputs.Read().tensor_norms, all.tensor_norms);
  params.out.found_inf = every.found_inf;
  run();
  EXPECT_EQ(outputs.Read().found_inf, 0);
  params.out.first_bad = every.first_bad;
  run();
  EXPECT_EQ(outputs.Read().first_bad.tensor, -1);
  params.out.factor = every.factor;
  run();
  EXPECT_EQ(outputs.Read().factor, all.factor);
  EXPECT_TRUE(std::isnan(outputs.Read().grad_scale));
  params.out.grad_scale = every.grad_scale;
  run();
  EXPECT_EQ(outputs.Read().grad_scale, all.grad_scale);
  EXPECT_TRUE(outputs.GuardsAreIntact());
}

TEST_F(GradNorm, TheLossScaleIsReadOnTheDeviceAtEachReplay) {
  const std::vector<HostTensor> tensors = {MakeTensor(CUPROOF_OPS_F32, 5000, "normal", 1)};
  DeviceImage image;
  ListArrays arrays = Place(tensors, 0, &image);
  image.Upload();
  SetPointers(image, 0, &arrays);
  NormOutputs outputs(1, 8.0f, 0);
  const cuproof_ops_grad_norm_params params{arrays.get(), outputs.get(), 0};
  size_t bytes = 0;
  ASSERT_EQ(cuproof_ops_grad_norm_workspace(&params.grads, &bytes), CUPROOF_OPS_OK);
  Workspace workspace(bytes);
  workspace.Poison();
  const Graph graph([&](cudaStream_t stream) {
    return cuproof_ops_grad_norm(&params, workspace.data(), bytes, stream);
  });
  EXPECT_EQ(graph.nodes(), 2u);
  graph.Replay();
  ExpectNorm(outputs.Read(), HostList(tensors).get(), 8.0f, 0);
  const float other = 0.5f;
  CUDA_CHECK(
      cudaMemcpy(const_cast<float*>(params.out.loss_scale), &other, 4, cudaMemcpyHostToDevice));
  const auto more = MakeTensor(CUPROOF_OPS_F32, 5000, "uniform", 9);
  image.Write(0, more.bytes.data());
  graph.Replay();
  ExpectNorm(outputs.Read(), HostList({more}).get(), 0.5f, 0);
}

}  // namespace
}  // namespace cuproof::ops::test
