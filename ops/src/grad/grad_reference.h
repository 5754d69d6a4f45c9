// The gradient operators once more, in plain C++ and fp64: what the tests hold the kernels against.
#ifndef CUPROOF_OPS_GRAD_GRAD_REFERENCE_H
#define CUPROOF_OPS_GRAD_GRAD_REFERENCE_H

#include <cstdint>

#include "cuproof/ops/loss_scale.h"
#include "cuproof/ops/tensor_list.h"

namespace cuproof::ops::reference {

/// An element, 16-bit types in the low half, as the fp32 of the same value.
float ToFloat(uint32_t bits, cuproof_ops_dtype dtype);

/// Rounded to nearest, ties to even. A NaN becomes the one that GPUs write.
uint32_t FromFloat(float value, cuproof_ops_dtype dtype);

uint32_t ElementBits(const void* data, cuproof_ops_dtype dtype, int64_t index);

/// In fp64. Its own error is below 2^-40 of the sum for tensors of up to 2^35 elements.
double SumOfSquares(const void* data, cuproof_ops_dtype dtype, int64_t elements);

/// The lists below have host pointers.
double SumOfSquares(const cuproof_ops_tensor_list& list);
cuproof_ops_bad_element FirstBad(const cuproof_ops_tensor_list& list);

/// Bound of |norm - exact| / exact for the norm that the kernels give of one tensor, without an Inf
/// or NaN.
///
/// Squares of 16-bit types are exact in fp32. Of bf16 four neighbours are summed there, with three
/// roundings of u = 2^-24 each, of fp16 two, with one; fp32 is squared and summed in fp64. All
/// terms are positive, so that the sum's relative error is at most as many u; squares lost to
/// underflow, at most 2^17 times 2^-150, are below 2^-33 of a chunk that is not summed again. The
/// root halves the error; rounding to fp32 adds u. fp64 work adds less than 2^-35.
double NormErrorBound(cuproof_ops_dtype dtype);

/// The same for a list: the largest of its tensors'.
double NormErrorBound(const cuproof_ops_tensor_list& list);

/// min(1, max_norm / (norm + 1e-6)) / loss_scale; max_norm of 0 or less: no clipping.
double ClipFactor(double norm, double max_norm, double loss_scale);

/// The product in fp32, then rounded to the type, as torch has it. A factor of 1 keeps the bits.
uint32_t Scale(uint32_t bits, cuproof_ops_dtype dtype, float factor);

/// fp32(1 / fp64(factor)).
float Reciprocal(float factor);

/// One fp32 addition.
float Accumulate(float accumulator, uint32_t gradient_bits, cuproof_ops_dtype dtype);

struct LossScale {
  float scale;
  int32_t growth_tracker;
};

/// `params` gives the factors and the interval; its pointers are not read.
LossScale UpdateLossScale(LossScale before, float found_inf,
                          const cuproof_ops_loss_scale_params& params);

}  // namespace cuproof::ops::reference

#endif
