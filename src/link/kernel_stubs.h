#pragma once
#include <string>
#include <vector>

#include "link/closure.h"

namespace cuproof {

/// A __global__ function whose host stub two objects of one scope export. The loader keeps the
/// first; the other object registers its own device code under the address of a stub that is not
/// its own.
struct SharedStub {
  std::string name;
  uint32_t winner = kNoObject;
  uint32_t loser = kNoObject;
  bool two_runtimes = false;  // one of them has a CUDA runtime of its own inside
};

/// The stubs that what `outcome` brought into `process` loses to others. A weak function is taken
/// for a stub where both objects hold its name as a text too, as nvcc gives it to
/// __cudaRegisterFunction.
std::vector<SharedStub> SharedKernelStubs(const Process& process, const LoadOutcome& outcome);

}  // namespace cuproof
