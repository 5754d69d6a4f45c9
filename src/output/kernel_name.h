#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace cuproof {

/// A kernel's C++ name for a column: without return type and parameters, then without namespaces,
/// then cut at its end. Escaped.
std::string ShortKernelName(std::string_view mangled, size_t width);

}  // namespace cuproof
