#pragma once
#include <cstddef>
#include <string_view>

namespace cuproof {

/// Levenshtein distance with a swap of neighbours as one step.
size_t EditDistance(std::string_view a, std::string_view b);

}  // namespace cuproof
