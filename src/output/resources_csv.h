#pragma once
#include <string>

#include "resource/kernel_lines.h"

namespace cuproof {

/// One line a kernel and GPU, RFC 4180, with a line of column names.
std::string ResourcesCsv(const Survey& survey, const LaunchQuestion& question);

}  // namespace cuproof
