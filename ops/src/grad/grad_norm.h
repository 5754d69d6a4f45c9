// The norm of a list, for the operators that end in one.
#ifndef CUPROOF_OPS_GRAD_GRAD_NORM_H
#define CUPROOF_OPS_GRAD_GRAD_NORM_H

#include "grad/finish_norm.h"

namespace cuproof::ops {

/// Reads `list` and ends with `finish` (whose page fields are filled here). The list and all
/// pointers are checked by the caller; the workspace is checked here.
cuproof_ops_status NormOfList(const cuproof_ops_tensor_list& list, FinishParams finish,
                              int32_t max_ctas, void* workspace, size_t workspace_bytes,
                              cudaStream_t stream);

}  // namespace cuproof::ops

#endif
