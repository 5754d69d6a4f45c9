#pragma once
#include <array>
#include <string>
#include <vector>

#include "bytes/result.h"

namespace cuproof {

/// `cuproof resources --bank`: the answer as text or, with `json`, as JSON. All accesses are of one
/// array.
Result<std::string> AnswerBank(const std::vector<std::string>& accesses,
                               const std::array<uint32_t, 3>& block, bool json);

}  // namespace cuproof
