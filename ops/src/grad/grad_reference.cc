#include "grad/grad_reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace cuproof::ops::reference {
namespace {

float HalfToFloat(uint32_t bits) {
  const uint32_t sign = (bits & 0x8000) << 16;
  const uint32_t magnitude = bits & 0x7fff;
  if (magnitude < 0x400) {
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return sign != 0 ? -value : value;
  }
  if (magnitude > 0x7c00) return std::bit_cast<float>(0x7fffffffu);
  if (magnitude == 0x7c00) return std::bit_cast<float>(sign | 0x7f800000u);
  // The exponent's bias is 127 instead of 15.
  return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
}

uint32_t FloatToHalf(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0x7fff;
  if (magnitude >= std::bit_cast<uint32_t>(65520.0f))
    return sign | 0x7c00;  // half past the largest
  if (magnitude < std::bit_cast<uint32_t>(0x1p-14f)) {
    // Beside 0.5 the last place of fp32 is that of a denormal half: the addition rounds.
    const float moved = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | (std::bit_cast<uint32_t>(moved) - std::bit_cast<uint32_t>(0.5f));
  }
  return sign | ((magnitude + 0xfff + (magnitude >> 13 & 1) - (112u << 23)) >> 13);
}

uint32_t FloatToBf16(float value) {
  if (std::isnan(value)) return 0x7fff;
  const auto bits = std::bit_cast<uint32_t>(value);
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

template <class Element, class ToFloatOf>
double Sum(const void* data, int64_t elements, ToFloatOf to_float) {
  const auto* element = static_cast<const Element*>(data);
  double total = 0;
  for (int64_t begin = 0; begin < elements; begin += 4096) {
    const int64_t end = std::min(begin + 4096, elements);
    double part[4] = {};
    for (int64_t i = begin; i < end; ++i) {
      const double value = to_float(element[i]);
      part[i % 4] += value * value;
    }
    total += part[0] + part[1] + (part[2] + part[3]);
  }
  return total;
}

}  // namespace

float ToFloat(uint32_t bits, cuproof_ops_dtype dtype) {
  switch (dtype) {
    case CUPROOF_OPS_F16:
      return HalfToFloat(bits);
    case CUPROOF_OPS_BF16:
      return std::bit_cast<float>(bits << 16);
    case CUPROOF_OPS_F32:
      break;
  }
  return std::bit_cast<float>(bits);
}

uint32_t FromFloat(float value, cuproof_ops_dtype dtype) {
  switch (dtype) {
    case CUPROOF_OPS_F16:
      return FloatToHalf(value);
    case CUPROOF_OPS_BF16:
      return FloatToBf16(value);
    case CUPROOF_OPS_F32:
      break;
  }
  return std::isnan(value) ? 0x7fffffffu : std::bit_cast<uint32_t>(value);
}

uint32_t ElementBits(const void* data, cuproof_ops_dtype dtype, int64_t index) {
  if (dtype == CUPROOF_OPS_F32) {
    uint32_t bits;
    std::memcpy(&bits, static_cast<const char*>(data) + index * 4, sizeof(bits));
    return bits;
  }
  uint16_t bits;
  std::memcpy(&bits, static_cast<const char*>(data) + index * 2, sizeof(bits));
  return bits;
}

double SumOfSquares(const void* data, cuproof_ops_dtype dtype, int64_t elements) {
  switch (dtype) {
    case CUPROOF_OPS_F16:
      return Sum<uint16_t>(data, elements, HalfToFloat);
    case CUPROOF_OPS_BF16:
      return Sum<uint16_t>(data, elements,
                           [](uint32_t bits) { return std::bit_cast<float>(bits << 16); });
    case CUPROOF_OPS_F32:
      break;
  }
  return Sum<float>(data, elements, [](float value) { return value; });
}

double SumOfSquares(const cuproof_ops_tensor_list& list) {
  double sum = 0;
  for (int64_t t = 0; t < list.count; ++t) {
    sum +=
        SumOfSquares(list.data[t], static_cast<cuproof_ops_dtype>(list.dtype[t]), list.elements[t]);
  }
  return sum;
}

cuproof_ops_bad_element FirstBad(const cuproof_ops_tensor_list& list) {
  for (int64_t t = 0; t < list.count; ++t) {
    const auto dtype = static_cast<cuproof_ops_dtype>(list.dtype[t]);
    // Squares hide no Inf or NaN; only a tensor with one is searched.
    if (std::isfinite(SumOfSquares(list.data[t], dtype, list.elements[t]))) continue;
    for (int64_t i = 0; i < list.elements[t]; ++i) {
      const uint32_t bits = ElementBits(list.data[t], dtype, i);
      if (!std::isfinite(ToFloat(bits, dtype))) {
        return {t, i, bits, static_cast<uint32_t>(dtype)};
      }
    }
  }
  return {-1, -1, 0, 0};
}

double NormErrorBound(cuproof_ops_dtype dtype) {
  const double roundings = dtype == CUPROOF_OPS_BF16 ? 3 : dtype == CUPROOF_OPS_F16 ? 1 : 0;
  constexpr double kUnit = 0x1p-24;
  return roundings * kUnit / (1 - roundings * kUnit) / 2 + kUnit + 0x1p-33;
}

double NormErrorBound(const cuproof_ops_tensor_list& list) {
  double bound = 0;
  for (int64_t t = 0; t < list.count; ++t) {
    bound = std::max(bound, NormErrorBound(static_cast<cuproof_ops_dtype>(list.dtype[t])));
  }
  return bound;
}

double ClipFactor(double norm, double max_norm, double loss_scale) {
  if (!(max_norm > 0)) return 1 / loss_scale;
  const double clip = max_norm / (norm + 1e-6);
  return (clip > 1 ? 1 : clip) / loss_scale;
}

uint32_t Scale(uint32_t bits, cuproof_ops_dtype dtype, float factor) {
  if (factor == 1) return bits;
  return FromFloat(ToFloat(bits, dtype) * factor, dtype);
}

float Reciprocal(float factor) { return static_cast<float>(1 / static_cast<double>(factor)); }

float Accumulate(float accumulator, uint32_t gradient_bits, cuproof_ops_dtype dtype) {
  return ToFloat(FromFloat(accumulator + ToFloat(gradient_bits, dtype), CUPROOF_OPS_F32),
                 CUPROOF_OPS_F32);
}

LossScale UpdateLossScale(LossScale before, float found_inf,
                          const cuproof_ops_loss_scale_params& params) {
  if (found_inf != 0) return {static_cast<float>(before.scale * params.backoff_factor), 0};
  const int32_t steps = before.growth_tracker + 1;
  if (steps != params.growth_interval) return {before.scale, steps};
  const auto grown = static_cast<float>(before.scale * params.growth_factor);
  return {std::isfinite(grown) ? grown : before.scale, 0};
}

}  // namespace cuproof::ops::reference
