/* A ring in device memory that tells which step, tensor and element went bad first. Plain C.

   The guard reads tensors once and writes nothing unless it finds an Inf or a NaN; then the call
   appends one record. It may be captured in a graph: the step is counted on the device. */
#ifndef CUPROOF_OPS_NONFINITE_GUARD_H
#define CUPROOF_OPS_NONFINITE_GUARD_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#include "cuproof/ops/status.h"
#include "cuproof/ops/tensor_list.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One record for each call that found something, not for each bad element. */
typedef struct cuproof_ops_guard_record {
  uint64_t step;  /* steps counted by the ring before this call */
  int64_t tensor; /* in the list of the call */
  int64_t index;  /* first bad element of that tensor */
  uint32_t bits;  /* the element, 16-bit types in the low half */
  uint16_t dtype; /* cuproof_ops_dtype */
  uint16_t site;  /* the caller's number for this place in the program */
} cuproof_ops_guard_record;

/* Device memory: this header, then `capacity` records. A full ring keeps its oldest records, since
   the first failure is the one that explains the others, and counts what it could not keep. */
typedef struct cuproof_ops_guard_ring {
  uint64_t step;    /* counted up by calls with advance_step */
  uint64_t written; /* records kept since the ring was made; record i is in slot i % capacity */
  uint64_t read;    /* records that the host has taken: raised by the host, never by a kernel */
  uint64_t dropped; /* records that found the ring full */
  uint32_t capacity;
  uint32_t padding[7];
} cuproof_ops_guard_ring; /* 64 bytes */

/* Bytes of device memory for a ring of `capacity` records (1 to 2^20). 0: capacity out of range. */
CUPROOF_OPS_API size_t cuproof_ops_guard_ring_bytes(uint32_t capacity);

/* Makes an empty ring in `ring` (device memory of the bytes above, aligned to 16). */
CUPROOF_OPS_API cuproof_ops_status cuproof_ops_guard_ring_init(void* ring, size_t bytes,
                                                               uint32_t capacity,
                                                               cudaStream_t stream);

/* Tells the ring that the host has taken its records up to number `read`, so that their slots are
   free again. */
CUPROOF_OPS_API cuproof_ops_status cuproof_ops_guard_ring_acknowledge(void* ring, uint64_t read,
                                                                      cudaStream_t stream);

typedef struct cuproof_ops_nonfinite_guard_params {
  cuproof_ops_tensor_list tensors;    /* read */
  void* ring;                         /* device; null: no record is kept */
  float* found_inf;                   /* [1] device, out: 1 or 0; null: not wanted */
  cuproof_ops_bad_element* first_bad; /* [1] device, out; null: not wanted */
  uint16_t site;                      /* goes into the record */
  uint16_t advance_step;              /* nonzero: the ring's step is one more after this call */
  int32_t max_ctas;                   /* 0: as many as fit the GPU. Results do not depend on it */
} cuproof_ops_nonfinite_guard_params;

/* Bytes of workspace for this list. Depends only on counts and elements. */
CUPROOF_OPS_API cuproof_ops_status
cuproof_ops_nonfinite_guard_workspace(const cuproof_ops_tensor_list* tensors, size_t* bytes);

/* workspace: device, aligned to 16, content irrelevant before and after. No allocation, no
   synchronisation; work goes to `stream` of the current device. */
CUPROOF_OPS_API cuproof_ops_status
cuproof_ops_nonfinite_guard(const cuproof_ops_nonfinite_guard_params* params, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
