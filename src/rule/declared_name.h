#pragma once
#include <string>
#include <string_view>

namespace cuproof {

/// "cublasLt.h declares it, and libcublasLt of CUDA 12.9 to 13.5 does not export it" for a name of
/// data/declared_not_exported.tsv; empty for others.
std::string DeclaredOnly(std::string_view name);

}  // namespace cuproof
