#include "norm_outputs.h"

#include <cmath>
#include <cstring>
#include <functional>

#include "grad/grad_reference.h"

namespace cuproof::ops::test {
namespace {

constexpr double kUnit = 0x1p-24;

template <class T>
T As(const std::vector<unsigned char>& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

/// Bad exactly as `wanted` is, else within `relative` and `absolute`: half of a denormal's last
/// place.
testing::AssertionResult Near(double got, double wanted, double relative,
                              double absolute = 0x1p-150) {
  const auto rounded = static_cast<float>(wanted);
  if (!std::isfinite(wanted) || !std::isfinite(rounded)) {
    // Next to the largest fp32, rounding decides.
    if (std::isnan(wanted)
            ? std::isnan(got)
            : got == static_cast<double>(rounded) || std::fabs(got - wanted) <= relative * wanted) {
      return testing::AssertionSuccess();
    }
  } else if (std::fabs(got - wanted) <= relative * std::fabs(wanted) + absolute) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure()
         << std::hexfloat << "got " << got << ", expected " << wanted << std::defaultfloat
         << ", apart by " << std::fabs(got / wanted - 1) / kUnit << " units of 2^-24, allowed "
         << relative / kUnit;
}

}  // namespace

NormOutputs::NormOutputs(int64_t tensors, std::optional<float> loss_scale, float max_norm)
    : loss_scale_(loss_scale), max_norm_(max_norm) {
  image_.AddPoison(4);
  image_.AddPoison(static_cast<size_t>(tensors) * 4, 4);
  image_.AddPoison(4, 8);
  image_.AddPoison(sizeof(cuproof_ops_bad_element), 8);
  image_.AddPoison(4, 12);
  image_.AddPoison(4, 4);
  const float scale = loss_scale.value_or(0);
  image_.Add(&scale, sizeof(scale), 4);
  image_.Upload();
}

cuproof_ops_norm_outputs NormOutputs::get() const {
  const auto at = [this](Part part) { return static_cast<float*>(image_.at(part)); };
  cuproof_ops_norm_outputs out{};
  out.total_norm = at(kTotal);
  out.tensor_norms = at(kTensors);
  out.found_inf = at(kFound);
  out.first_bad = static_cast<cuproof_ops_bad_element*>(image_.at(kBad));
  out.loss_scale = loss_scale_.has_value() ? at(kLossScale) : nullptr;
  out.max_norm = max_norm_;
  out.factor = at(kFactor);
  out.grad_scale = at(kGradScale);
  return out;
}

NormValues NormOutputs::Read() const {
  NormValues values;
  values.total_norm = As<float>(image_.Read(kTotal));
  const auto norms = image_.Read(kTensors);
  values.tensor_norms.resize(norms.size() / 4);
  if (!norms.empty()) std::memcpy(values.tensor_norms.data(), norms.data(), norms.size());
  values.found_inf = As<float>(image_.Read(kFound));
  values.first_bad = As<cuproof_ops_bad_element>(image_.Read(kBad));
  values.factor = As<float>(image_.Read(kFactor));
  values.grad_scale = As<float>(image_.Read(kGradScale));
  return values;
}

std::vector<unsigned char> NormOutputs::Bytes() const {
  std::vector<unsigned char> all;
  for (int part = kTotal; part <= kGradScale; ++part) {
    const auto bytes = image_.Read(part);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

std::optional<float> LossScaleFor(std::string_view name) {
  switch (std::hash<std::string_view>{}(name) % 4) {
    case 0:
      return std::nullopt;
    case 1:
      return 1.0f;
    case 2:
      return 65536.0f;
    default:
      return 3.0f;
  }
}

float MaxNormFor(std::string_view name) {
  constexpr float kLimits[] = {0, -1, 1, 1e-3f, 1e30f, INFINITY};
  return kLimits[std::hash<std::string_view>{}(name) / 4 % 6];
}

void ExpectNorm(const NormValues& got, const cuproof_ops_tensor_list& list,
                std::optional<float> loss_scale, float max_norm) {
  const double scale = loss_scale.value_or(1);
  double sum = 0;
  ASSERT_EQ(static_cast<int64_t>(got.tensor_norms.size()), list.count);
  for (int64_t t = 0; t < list.count; ++t) {
    const auto dtype = static_cast<cuproof_ops_dtype>(list.dtype[t]);
    const double squares = reference::SumOfSquares(list.data[t], dtype, list.elements[t]);
    sum += squares;
    ASSERT_TRUE(Near(got.tensor_norms[static_cast<size_t>(t)], std::sqrt(squares) / scale,
                     reference::NormErrorBound(dtype)))
        << "tensor " << t;
  }
  EXPECT_TRUE(Near(got.total_norm, std::sqrt(sum) / scale, reference::NormErrorBound(list)));

  const cuproof_ops_bad_element bad = reference::FirstBad(list);
  EXPECT_EQ(got.found_inf, bad.tensor >= 0 ? 1 : 0);
  EXPECT_EQ(got.first_bad.tensor, bad.tensor);
  EXPECT_EQ(got.first_bad.index, bad.index);
  EXPECT_EQ(got.first_bad.bits, bad.bits);
  EXPECT_EQ(got.first_bad.dtype, bad.dtype);

  // From the norm that was given: 1e-6 as fp32, an addition, a division, 1 / scale, a product.
  const double factor = reference::ClipFactor(got.total_norm, max_norm, scale);
  // The quotient and the product may both be denormal.
  EXPECT_TRUE(Near(got.factor, factor, 6 * kUnit, 0x1p-149)) << "norm " << got.total_norm;
  const double divisor = 1 / factor;
  if (bad.tensor >= 0) {
    EXPECT_EQ(got.grad_scale, 1);
  } else if (std::isinf(got.grad_scale)) {
    // What is divided by it becomes 0, as it does by the factor's last few numbers.
    EXPECT_GT(divisor, 3.4e38);
  } else {
    EXPECT_TRUE(Near(got.grad_scale, divisor, 8 * kUnit + 0x1p-149 * std::fabs(divisor)));
  }
}

}  // namespace cuproof::ops::test
