#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "bytes/view.h"

namespace cuproof {

/// The operator libraries that a file claims for itself when it is loaded: "myops" of
/// TORCH_LIBRARY(myops, m) and STABLE_TORCH_LIBRARY(myops, m). torch lets one file of a process
/// claim a name; fragments and implementations may be many. Read from the names of .symtab, so a
/// stripped file claims nothing that is known.
std::vector<std::string> OperatorClaims(ByteView file);

/// "myops" of _ZL31TORCH_LIBRARY_static_init_myops; empty for another name.
std::string_view OperatorClaimOf(std::string_view local_name);

}  // namespace cuproof
