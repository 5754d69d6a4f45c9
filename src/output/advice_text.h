#pragma once
#include <string>
#include <vector>

#include "resource/kernel_lines.h"

namespace cuproof {

/// What a change of a kernel would bring, a sentence each. `product` is the GPU that was named;
/// empty: only its architecture is known.
std::vector<std::string> AdviceTexts(const KernelLine& line, const LaunchQuestion& question,
                                     const std::string& product);

}  // namespace cuproof
