#pragma once
#include "link/closure.h"
#include "link/environment.h"
#include "rule/host_environment.h"

namespace cuproof {

/// `prepared`: the process that has imported torch.
HostEnvironment DescribeEnvironment(const Environment& environment, FileCache& files,
                                    const Process& prepared, bool has_program);

/// "128" of bitsandbytes/libbitsandbytes_cuda128.so; empty for other paths.
std::string BitsAndBytesNumber(const std::string& path);

}  // namespace cuproof
