#pragma once
#include <vector>

#include "link/environment.h"

namespace cuproof {

/// What the loader of a system looks at: its default folders, cache and configuration. `machine` 0:
/// that of the loader that is there.
SystemLibraries ReadSystemLibraries(const std::string& sysroot, uint16_t machine,
                                    std::vector<Error>& problems);

}  // namespace cuproof
