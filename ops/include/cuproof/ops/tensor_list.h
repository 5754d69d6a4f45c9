/* A list of tensors, as every multi-tensor operator takes it. Plain C. */
#ifndef CUPROOF_OPS_TENSOR_LIST_H
#define CUPROOF_OPS_TENSOR_LIST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cuproof_ops_dtype {
  CUPROOF_OPS_F32 = 0,
  CUPROOF_OPS_F16 = 1,
  CUPROOF_OPS_BF16 = 2,
} cuproof_ops_dtype;

/* Tensors of any mix of types and sizes, each dense: elements one behind the other.
   The four arrays are host memory and are read only during the call: the table travels to the GPU
   in the kernel's own parameters, so there is no copy of it that could go stale, and a captured
   graph keeps the pointers of its capture. An empty tensor (0 elements) may have a null pointer. */
typedef struct cuproof_ops_tensor_list {
  void* const* data;       /* [count] device pointers, aligned to one element */
  const int64_t* elements; /* [count] at most 2^46 each */
  const uint8_t* dtype;    /* [count] cuproof_ops_dtype */
  int64_t count;
} cuproof_ops_tensor_list;

/* Where the first Inf or NaN is: the lowest tensor in list order, and in it the lowest index. */
typedef struct cuproof_ops_bad_element {
  int64_t tensor; /* -1: there is none */
  int64_t index;  /* element in the tensor; -1: there is none */
  uint32_t bits;  /* the element itself, 16-bit types in the low half */
  uint32_t dtype; /* cuproof_ops_dtype */
} cuproof_ops_bad_element;

#ifdef __cplusplus
}
#endif

#endif
