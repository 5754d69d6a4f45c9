#include "grad/grad_reference.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace cuproof::ops::reference {
namespace {

constexpr auto kF32 = CUPROOF_OPS_F32;
constexpr auto kF16 = CUPROOF_OPS_F16;
constexpr auto kBf16 = CUPROOF_OPS_BF16;

TEST(Reference, EveryHalfAndBf16GoesToFloatAndBack) {
  for (const auto dtype : {kF16, kBf16}) {
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      const float value = ToFloat(bits, dtype);
      ASSERT_EQ(FromFloat(value, dtype), std::isnan(value) ? 0x7fffu : bits) << dtype;
    }
  }
}

TEST(Reference, KnownHalves) {
  EXPECT_EQ(ToFloat(0x3c00, kF16), 1.0f);
  EXPECT_EQ(ToFloat(0xc000, kF16), -2.0f);
  EXPECT_EQ(ToFloat(0x7bff, kF16), 65504.0f);
  EXPECT_EQ(ToFloat(0x0001, kF16), 0x1p-24f);
  EXPECT_EQ(ToFloat(0x0400, kF16), 0x1p-14f);
  EXPECT_EQ(ToFloat(0x7c00, kF16), INFINITY);
  EXPECT_TRUE(std::isnan(ToFloat(0x7e01, kF16)));
  EXPECT_EQ(ToFloat(0x3f80, kBf16), 1.0f);
  EXPECT_EQ(ToFloat(0xff80, kBf16), -INFINITY);
}

// Half way between neighbours goes to the even one, a little to either side goes there.
TEST(Reference, RoundsToNearestEven) {
  for (const auto dtype : {kF16, kBf16}) {
    const uint32_t infinity = dtype == kF16 ? 0x7c00 : 0x7f80;
    for (uint32_t low = 0; low + 1 < infinity; ++low) {
      const float below = ToFloat(low, dtype);
      const float above = ToFloat(low + 1, dtype);
      const float middle = below + (above - below) / 2;
      ASSERT_EQ(FromFloat(middle, dtype), low % 2 == 0 ? low : low + 1);
      ASSERT_EQ(FromFloat(std::nextafter(middle, 0.0f), dtype), low);
      ASSERT_EQ(FromFloat(std::nextafter(middle, INFINITY), dtype), low + 1);
      ASSERT_EQ(FromFloat(-std::nextafter(middle, INFINITY), dtype), 0x8000 + low + 1);
    }
  }
  EXPECT_EQ(FromFloat(65519.99f, kF16), 0x7bffu);
  EXPECT_EQ(FromFloat(65520.0f, kF16), 0x7c00u);
  EXPECT_EQ(FromFloat(std::numeric_limits<float>::max(), kBf16), 0x7f80u);
}

TEST(Reference, NormAndFirstBadOfAList) {
  std::vector<float> a = {3, 4};
  std::vector<uint16_t> b = {0x4140, 0x7f80, 0x7fc0};  // bf16: 12, Inf, NaN
  void* data[] = {a.data(), nullptr, b.data()};
  int64_t elements[] = {2, 0, 1};
  uint8_t dtype[] = {kF32, kF16, kBf16};
  const cuproof_ops_tensor_list list{data, elements, dtype, 3};
  EXPECT_EQ(std::sqrt(SumOfSquares(list)), 13);
  EXPECT_EQ(FirstBad(list).tensor, -1);
  EXPECT_EQ(FirstBad(list).index, -1);
  elements[2] = 3;
  EXPECT_TRUE(std::isnan(SumOfSquares(list)));
  EXPECT_EQ(FirstBad(list).tensor, 2);
  EXPECT_EQ(FirstBad(list).index, 1);
  EXPECT_EQ(FirstBad(list).bits, 0x7f80u);
  EXPECT_EQ(FirstBad(list).dtype, static_cast<uint32_t>(kBf16));
}

TEST(Reference, SquaresOutsideOfFp32) {
  const std::vector<float> huge(10000, 3e38f);
  EXPECT_NEAR(std::sqrt(SumOfSquares(huge.data(), kF32, 10000)) / 3e40, 1, 1e-6);
  const std::vector<float> denormal(10000, 0x1p-149f);
  EXPECT_EQ(std::sqrt(SumOfSquares(denormal.data(), kF32, 10000)), 100 * 0x1p-149);
}

TEST(Reference, ErrorBoundIsOfFewRoundings) {
  EXPECT_GT(NormErrorBound(kF32), 0x1p-24);
  EXPECT_LT(NormErrorBound(kF32), 1.01 * 0x1p-24);
  EXPECT_LT(NormErrorBound(kF16), 1.51 * 0x1p-24);
  EXPECT_LT(NormErrorBound(kBf16), 2.51 * 0x1p-24);
}

TEST(Reference, ClipFactor) {
  EXPECT_EQ(ClipFactor(5, 0, 1), 1);
  EXPECT_EQ(ClipFactor(5, -1, 4), 0.25);
  EXPECT_EQ(ClipFactor(5, 10, 1), 1);
  EXPECT_NEAR(ClipFactor(5, 1, 2), 0.1, 1e-6);
  EXPECT_EQ(ClipFactor(INFINITY, 1, 1), 0);
  EXPECT_TRUE(std::isnan(ClipFactor(NAN, 1, 1)));
}

TEST(Reference, ScaleRoundsTheProductOfFp32) {
  EXPECT_EQ(Scale(0x3f80, kBf16, 0.5f), 0x3f00u);
  EXPECT_EQ(Scale(0x7fc1, kBf16, 1), 0x7fc1u) << "a factor of 1 keeps the bits";
  EXPECT_EQ(Scale(0x7fc1, kBf16, 2), 0x7fffu);
  EXPECT_EQ(Scale(0x7bff, kF16, 2), 0x7c00u);
  EXPECT_EQ(Scale(std::bit_cast<uint32_t>(1.5f), kF32, 3), std::bit_cast<uint32_t>(4.5f));
  EXPECT_EQ(Reciprocal(3), 1.0f / 3.0f);
}

TEST(Reference, AccumulateIsOneAddition) {
  EXPECT_EQ(Accumulate(1, 0x3f80, kBf16), 2);
  EXPECT_EQ(Accumulate(0x1p24f, std::bit_cast<uint32_t>(1.0f), kF32), 0x1p24f);
}

TEST(Reference, LossScaleFollowsTheGradScaler) {
  cuproof_ops_loss_scale_params params{};
  params.growth_factor = 2;
  params.backoff_factor = 0.5f;
  params.growth_interval = 3;
  LossScale state{1024, 0};
  for (const float found : {0.0f, 0.0f, 0.0f}) state = UpdateLossScale(state, found, params);
  EXPECT_EQ(state.scale, 2048);
  EXPECT_EQ(state.growth_tracker, 0);
  state = UpdateLossScale({1024, 2}, 1, params);
  EXPECT_EQ(state.scale, 512);
  EXPECT_EQ(state.growth_tracker, 0);
  state = UpdateLossScale({3e38f, 2}, 0, params);
  EXPECT_EQ(state.scale, 3e38f);
  EXPECT_EQ(state.growth_tracker, 0);
}

}  // namespace
}  // namespace cuproof::ops::reference
