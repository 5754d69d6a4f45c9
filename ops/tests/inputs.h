// Tensors on the host, with the values that a case asks for.
#ifndef CUPROOF_OPS_TESTS_INPUTS_H
#define CUPROOF_OPS_TESTS_INPUTS_H

#include <cstdint>
#include <string_view>
#include <vector>

#include "cases.h"
#include "cuproof/ops/tensor_list.h"

namespace cuproof::ops::test {

struct HostTensor {
  cuproof_ops_dtype dtype;
  int64_t elements;
  std::vector<unsigned char> bytes;
};

/// Arrays of a list, of host or of device pointers.
struct ListArrays {
  std::vector<void*> data;
  std::vector<int64_t> elements;
  std::vector<uint8_t> dtype;
  std::vector<float*> second;

  cuproof_ops_tensor_list get() const {
    return {data.data(), elements.data(), dtype.data(), static_cast<int64_t>(elements.size())};
  }
  /// The library may look at the arrays only during the call: afterwards they hold nonsense.
  void Scramble();
};

/// The same values at every run.
std::vector<HostTensor> MakeInputs(const Case& row);

HostTensor MakeTensor(cuproof_ops_dtype dtype, int64_t elements, std::string_view input,
                      uint64_t seed);

/// The list over the host's own memory, for the reference.
ListArrays HostList(const std::vector<HostTensor>& tensors);

int64_t SizeOf(cuproof_ops_dtype dtype);
void SetBits(HostTensor* tensor, int64_t index, uint32_t bits);

}  // namespace cuproof::ops::test

#endif
