#include "grad/tensor_list.h"
#include "runtime/status.h"

namespace cuproof::ops {

cuproof_ops_status CheckWorkspace(const void* workspace, size_t bytes, size_t needed) {
  if (bytes < needed) {
    return Fail(CUPROOF_OPS_WORKSPACE_TOO_SMALL,
                "workspace_bytes: expected at least %zu (ask the workspace query), got %zu", needed,
                bytes);
  }
  return CheckDevicePointer(workspace, "workspace", 16, false);
}

}  // namespace cuproof::ops
