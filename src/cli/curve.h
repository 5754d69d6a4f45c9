#pragma once
#include <string>

#include "output/style.h"
#include "resource/kernel_lines.h"

namespace cuproof {

/// The curves of the first kernels of a survey, `top` of them (0: a few); and, where `svg` names a
/// file, a picture of the first one in it.
Result<std::string> AnswerCurve(const Survey& survey, const LaunchQuestion& question, size_t top,
                                const std::string& svg, const Style& style);

}  // namespace cuproof
