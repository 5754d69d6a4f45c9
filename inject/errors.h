#pragma once
#include <stdint.h>

#include "graphs.h"

namespace cuproof::inject {

/// What is known of a call that failed.
struct Failure {
  const char* api;
  int result;
  const KernelShape* kernel;  // null: no launch of a kernel
  const void* exec;           // null: no graph
  const void* graph;
  uint32_t stream;
  bool has_stream;
  uint32_t capture;
  uint32_t image;
};

/// Writes the error down, unless it is the third, fifth, … of its kind; keeps the image that a
/// launch failed with.
void RecordError(const Failure& failure);

}  // namespace cuproof::inject
