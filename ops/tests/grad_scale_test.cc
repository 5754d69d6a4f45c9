#include "cuproof/ops/grad_scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <string>

#include "grad/grad_reference.h"
#include "launch.h"

namespace cuproof::ops::test {
namespace {

#include "grad_scale_cases.inc"

std::vector<HostTensor> Scaled(const std::vector<HostTensor>& tensors, float factor) {
  std::vector<HostTensor> scaled = tensors;
  for (HostTensor& tensor : scaled) {
    for (int64_t i = 0; i < tensor.elements; ++i) {
      const uint32_t bits = reference::ElementBits(tensor.bytes.data(), tensor.dtype, i);
      SetBits(&tensor, i, reference::Scale(bits, tensor.dtype, factor));
    }
  }
  return scaled;
}

/// Factor and found_inf between guards.
class ScaleScalars {
 public:
  ScaleScalars(float factor, float found_inf) {
    image_.Add(&factor, 4, 4);
    image_.Add(&found_inf, 4, 12);
    image_.Upload();
  }
  const float* factor() const { return static_cast<const float*>(image_.at(0)); }
  float* found_inf() const { return static_cast<float*>(image_.at(1)); }
  void ExpectFound(float value) { image_.Expect(1, &value); }
  void Restore() { image_.Restore(); }
  testing::AssertionResult AsExpected() const { return image_.IsAsExpected(); }

 private:
  DeviceImage image_;
};

class GradScaleCases : public GpuCaseTest {
 protected:
  void ExpectScaled(float factor, bool reciprocal, const std::vector<HostTensor>& scaled,
                    bool with_found, int offset) {
    DeviceImage image;
    ListArrays arrays = Place(tensors_, static_cast<size_t>(offset), &image);
    image.Upload();
    SetPointers(image, 0, &arrays);
    for (size_t t = 0; t < scaled.size(); ++t) {
      image.Expect(static_cast<int>(t), scaled[t].bytes.data());
    }
    const bool bad = reference::FirstBad(HostList(tensors_).get()).tensor >= 0;
    // Set where there is one, left alone else: a value of its own tells the two apart.
    ScaleScalars scalars(factor, 0.25f);
    if (with_found && bad) scalars.ExpectFound(1);
    for (const Launch launch : kLaunches) {
      for (const int max_ctas : k_max_ctas) {
        SCOPED_TRACE("factor " + std::to_string(factor) + (reciprocal ? " reciprocal" : "") +
                     ", offset " + std::to_string(offset) + ", max_ctas " +
                     std::to_string(max_ctas) + (launch == Launch::kGraph ? ", graph" : ""));
        image.Restore();
        scalars.Restore();
        ListArrays during_call = arrays;
        RunCall(launch, [&](cudaStream_t stream) {
          cuproof_ops_grad_scale_params params{};
          params.grads = during_call.get();
          params.factor = scalars.factor();
          params.reciprocal = reciprocal ? 1 : 0;
          params.found_inf = with_found ? scalars.found_inf() : nullptr;
          params.max_ctas = max_ctas;
          const auto status = cuproof_ops_grad_scale(&params, stream);
          during_call.Scramble();
          return status;
        });
        ASSERT_TRUE(image.IsAsExpected());
        ASSERT_TRUE(scalars.AsExpected());
        if (HasFailure()) return;
      }
    }
  }

  std::vector<HostTensor> tensors_;
};

// Component by component the bits of the reference: the product in fp32, rounded to the type.
TEST_P(GradScaleCases, MatchTheReferenceInEveryWay) {
  const Case& row = GetParam();
  tensors_ = MakeInputs(row);
  // Two factors for each case, all of them over the cases; large tensors are scaled once.
  const size_t hash = std::hash<std::string>{}(row.name);
  constexpr size_t kFactors = std::size(k_factors);
  for (size_t i = 0; i < (IsLarge(row) ? 1 : 2); ++i) {
    const float factor = k_factors[(hash + 3 * i) % kFactors];
    for (const int reciprocal : k_reciprocal) {
      const bool with_found = (hash / kFactors + i) % 2 == 0;
      const float used = reciprocal != 0 ? reference::Reciprocal(factor) : factor;
      const auto scaled = Scaled(tensors_, used);
      for (const int offset : k_offset_bytes) {
        if (IsLarge(row) && offset > 2) break;
        ExpectScaled(factor, reciprocal != 0, scaled, with_found, offset);
        if (HasFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Spec, GradScaleCases, testing::ValuesIn(kCases), CaseName);

class GradScale : public GpuTest {};

// All 65,536 values of the 16-bit types, with each factor of the specification.
TEST_F(GradScale, EveryValueOf16Bits) {
  for (const auto dtype : {CUPROOF_OPS_F16, CUPROOF_OPS_BF16}) {
    HostTensor all = MakeTensor(dtype, 65536, "zeros", 0);
    for (uint32_t bits = 0; bits < 65536; ++bits) SetBits(&all, bits, bits);
    for (const float factor : k_factors) {
      DeviceImage image;
      ListArrays arrays = Place({all}, 0, &image);
      image.Upload();
      SetPointers(image, 0, &arrays);
      image.Expect(0, Scaled({all}, factor)[0].bytes.data());
      ScaleScalars scalars(factor, 0);
      cuproof_ops_grad_scale_params params{};
      params.grads = arrays.get();
      params.factor = scalars.factor();
      RunCall(Launch::kEager,
              [&](cudaStream_t stream) { return cuproof_ops_grad_scale(&params, stream); });
      EXPECT_TRUE(image.IsAsExpected(dtype)) << "factor " << factor;
    }
  }
}

TEST_F(GradScale, AFactorOfOneKeepsEveryBit) {
  for (const auto dtype : {CUPROOF_OPS_F16, CUPROOF_OPS_BF16}) {
    HostTensor all = MakeTensor(dtype, 65536, "zeros", 0);
    for (uint32_t bits = 0; bits < 65536; ++bits) SetBits(&all, bits, bits);
    DeviceImage image;
    ListArrays arrays = Place({all}, 2, &image);
    image.Upload();
    SetPointers(image, 0, &arrays);
    ScaleScalars scalars(1, 0);
    scalars.ExpectFound(1);
    cuproof_ops_grad_scale_params params{};
    params.grads = arrays.get();
    params.factor = scalars.factor();
    params.found_inf = scalars.found_inf();
    RunCall(Launch::kEager,
            [&](cudaStream_t stream) { return cuproof_ops_grad_scale(&params, stream); });
    EXPECT_TRUE(image.IsAsExpected()) << "bit by bit, NaNs too";
    EXPECT_TRUE(scalars.AsExpected());
  }
}

}  // namespace
}  // namespace cuproof::ops::test
