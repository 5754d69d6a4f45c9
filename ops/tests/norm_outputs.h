// All outputs of a norm on the device, and what they must be.
#ifndef CUPROOF_OPS_TESTS_NORM_OUTPUTS_H
#define CUPROOF_OPS_TESTS_NORM_OUTPUTS_H

#include <optional>
#include <string_view>
#include <vector>

#include "cuproof/ops/grad_norm.h"
#include "device_image.h"

namespace cuproof::ops::test {

struct NormValues {
  float total_norm;
  std::vector<float> tensor_norms;
  float found_inf;
  cuproof_ops_bad_element first_bad;
  float factor;
  float grad_scale;
};

class NormOutputs {
 public:
  NormOutputs(int64_t tensors, std::optional<float> loss_scale, float max_norm);

  cuproof_ops_norm_outputs get() const;
  void Poison() { image_.Restore(); }
  NormValues Read() const;
  /// Of all outputs, in order.
  std::vector<unsigned char> Bytes() const;
  testing::AssertionResult GuardsAreIntact() const { return image_.GuardsAreIntact(); }

 private:
  enum Part { kTotal, kTensors, kFound, kBad, kFactor, kGradScale, kLossScale };

  std::optional<float> loss_scale_;
  float max_norm_;
  DeviceImage image_;
};

/// Some scale and limit for a case, the same for the same name; the corners come up in turn.
std::optional<float> LossScaleFor(std::string_view name);
float MaxNormFor(std::string_view name);

/// `list` has host pointers and the values that were read.
void ExpectNorm(const NormValues& got, const cuproof_ops_tensor_list& list,
                std::optional<float> loss_scale, float max_norm);

}  // namespace cuproof::ops::test

#endif
