#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "link/closure.h"

namespace cuproof {

/// The DT_NEEDED entries of the root that could go: none of its names is in such a library, nor in
/// one that only this brings along, and it does nothing by being loaded. Of `ldd -r -u` those that
/// belong to nobody's runtime: libraries of the compilers, of glibc and of torch are left out, and
/// those with constructors, but for CUDA's and the driver's, whose constructors serve themselves.
std::vector<std::string> UnusedNeeds(const Process& process, const LoadOutcome& outcome);

}  // namespace cuproof
