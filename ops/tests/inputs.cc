#include "inputs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>

#include "grad/grad_reference.h"

namespace cuproof::ops::test {
namespace {

/// Fast, since large cases have 10^8 elements. splitmix64.
struct Random {
  uint64_t state;

  uint64_t Next() {
    state += 0x9e3779b97f4a7c15u;
    uint64_t z = state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  /// -1 to 1.
  float Uniform() { return static_cast<float>(static_cast<int64_t>(Next()) >> 40) * 0x1p-23f; }
  /// Nearly: the sum of four, with variance 1.
  float Normal() {
    const uint64_t bits = Next();
    int sum = 0;
    for (int i = 0; i < 4; ++i) sum += static_cast<int16_t>(bits >> (16 * i));
    return static_cast<float>(sum) * (1.7320508f / 65536);
  }
};

float Limit(cuproof_ops_dtype dtype) { return dtype == CUPROOF_OPS_F16 ? 60000.0f : 3e38f; }

uint32_t SignBit(cuproof_ops_dtype dtype) { return dtype == CUPROOF_OPS_F32 ? 1u << 31 : 1u << 15; }

uint32_t DenormalMask(cuproof_ops_dtype dtype) {
  switch (dtype) {
    case CUPROOF_OPS_F32:
      return 0x7fffff;
    case CUPROOF_OPS_F16:
      return 0x3ff;
    case CUPROOF_OPS_BF16:
      return 0x7f;
  }
  return 0;
}

float Value(std::string_view input, cuproof_ops_dtype dtype, Random* random) {
  if (input == "uniform") return random->Uniform();
  if (input == "constant") return 0.1f;
  if (input == "zeros") return 0;
  if (input == "minus_zeros") return -0.0f;
  if (input == "exact_integers")
    return static_cast<float>(static_cast<int>(random->Next() % 17) - 8);
  if (input == "huge") {
    const float magnitude = Limit(dtype) * (0.75f + 0.25f * random->Uniform());
    return random->Next() % 2 == 0 ? magnitude : -magnitude;
  }
  if (input == "tiny") return (dtype == CUPROOF_OPS_F16 ? 0x1p-13f : 1e-30f) * random->Normal();
  if (input == "heavy_tailed") {
    const float divisor = random->Uniform();
    const float value = random->Normal() / (divisor * divisor * divisor + 1e-9f);
    return std::clamp(value, -Limit(dtype), Limit(dtype));
  }
  return random->Normal();
}

bool IsBadInput(std::string_view input) {
  return input.find("inf") != std::string_view::npos || input.starts_with("nan") ||
         input == "several_bad";
}

uint32_t BadBits(std::string_view input, cuproof_ops_dtype dtype) {
  if (input.starts_with("inf")) return reference::FromFloat(INFINITY, dtype);
  if (input.starts_with("minus")) return reference::FromFloat(-INFINITY, dtype);
  switch (dtype) {
    case CUPROOF_OPS_F32:
      return 0x7fc01234;
    case CUPROOF_OPS_F16:
      return 0x7e01;
    case CUPROOF_OPS_BF16:
      return 0x7fc1;
  }
  return 0;
}

/// Of the last, not whole vector, or the last element.
int64_t TailIndex(const HostTensor& tensor) {
  const int64_t rest = tensor.elements % (16 / SizeOf(tensor.dtype));
  return rest == 0 ? tensor.elements - 1 : tensor.elements - rest;
}

void PlaceBad(std::vector<HostTensor>* tensors, std::string_view input) {
  std::vector<HostTensor*> filled;
  for (HostTensor& tensor : *tensors) {
    if (tensor.elements > 0) filled.push_back(&tensor);
  }
  if (filled.empty()) return;
  HostTensor* middle = filled[filled.size() / 2];
  HostTensor* last = filled.back();
  const auto put = [&](HostTensor* tensor, int64_t index, std::string_view kind) {
    SetBits(tensor, index, BadBits(kind, tensor->dtype));
  };
  if (input == "several_bad") {
    put(middle, middle->elements / 2, "nan");
    put(middle, middle->elements - 1, "inf");
    put(last, last->elements - 1, "minus");
    return;
  }
  if (input.ends_with("first")) put(filled[0], 0, input);
  if (input.ends_with("middle")) put(middle, middle->elements / 2, input);
  if (input.ends_with("last")) put(last, last->elements - 1, input);
  if (input.ends_with("tail")) {
    HostTensor* largest = *std::max_element(
        filled.begin(), filled.end(),
        [](const HostTensor* a, const HostTensor* b) { return a->elements < b->elements; });
    put(largest, TailIndex(*largest), input);
  }
}

cuproof_ops_dtype DtypeOf(std::string_view name, int tensor) {
  if (name == "mixed") return static_cast<cuproof_ops_dtype>(tensor % 3);
  return name == "fp32" ? CUPROOF_OPS_F32 : name == "fp16" ? CUPROOF_OPS_F16 : CUPROOF_OPS_BF16;
}

}  // namespace

void ListArrays::Scramble() {
  std::fill(data.begin(), data.end(), reinterpret_cast<void*>(0x10));
  std::fill(elements.begin(), elements.end(), int64_t{1} << 40);
  std::fill(dtype.begin(), dtype.end(), uint8_t{77});
  std::fill(second.begin(), second.end(), nullptr);
}

int64_t SizeOf(cuproof_ops_dtype dtype) { return dtype == CUPROOF_OPS_F32 ? 4 : 2; }

void SetBits(HostTensor* tensor, int64_t index, uint32_t bits) {
  // The low half first: the machines that run this are little-endian.
  std::memcpy(tensor->bytes.data() + index * SizeOf(tensor->dtype), &bits,
              static_cast<size_t>(SizeOf(tensor->dtype)));
}

HostTensor MakeTensor(cuproof_ops_dtype dtype, int64_t elements, std::string_view input,
                      uint64_t seed) {
  HostTensor tensor{dtype, elements, {}};
  tensor.bytes.resize(static_cast<size_t>(elements * SizeOf(dtype)));
  Random random{seed * 0x2545f4914f6cdd1du + 1};
  for (int64_t i = 0; i < elements; ++i) {
    uint32_t bits;
    if (input == "denormal") {
      const auto any = static_cast<uint32_t>(random.Next());
      bits = (any & DenormalMask(dtype)) | (any >> 30 & 1 ? SignBit(dtype) : 0);
    } else {
      bits = reference::FromFloat(Value(input, dtype, &random), dtype);
    }
    SetBits(&tensor, i, bits);
  }
  return tensor;
}

std::vector<HostTensor> MakeInputs(const Case& row) {
  const std::string_view input = row.input;
  std::vector<HostTensor> tensors;
  for (int t = 0; t < row.count; ++t) {
    tensors.push_back(MakeTensor(DtypeOf(row.dtype, t), row.pattern[t % row.pattern_size],
                                 IsBadInput(input) ? "normal" : input, static_cast<uint64_t>(t)));
  }
  if (IsBadInput(input)) PlaceBad(&tensors, input);
  return tensors;
}

ListArrays HostList(const std::vector<HostTensor>& tensors) {
  ListArrays arrays;
  for (const HostTensor& tensor : tensors) {
    arrays.data.push_back(const_cast<unsigned char*>(tensor.bytes.data()));
    arrays.elements.push_back(tensor.elements);
    arrays.dtype.push_back(static_cast<uint8_t>(tensor.dtype));
  }
  return arrays;
}

}  // namespace cuproof::ops::test
