// What the launchers must know of a GPU, asked once.
#ifndef CUPROOF_OPS_RUNTIME_DEVICE_H
#define CUPROOF_OPS_RUNTIME_DEVICE_H

#include "cuproof/ops/status.h"

namespace cuproof::ops {

struct Device {
  int ordinal = -1;
  int multiprocessors = 0;
  int capability = 0;  // 90 for 9.0
};

/// The current device. Asks CUDA for attributes only the first time; safe during capture.
cuproof_ops_status CurrentDevice(Device* device);

}  // namespace cuproof::ops

#endif
