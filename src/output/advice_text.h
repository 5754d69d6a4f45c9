#pragma once
#include <string>
#include <vector>

#include "resource/kernel_lines.h"

namespace cuproof {

/// What a change of a kernel would bring, a sentence each.
std::vector<std::string> AdviceTexts(const KernelLine& line, const LaunchQuestion& question);

}  // namespace cuproof
