#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "bytes/result.h"
#include "resource/ptxas_log.h"

namespace cuproof {

/// What ptxas says of a PTX text with a limit of registers: the price of the limit in spills.
/// `ptxas` is a path, or a name that is looked for on PATH; it is run, and nothing else is. Its
/// output is thrown away.
Result<PtxasLog> CompileWithLimit(const std::string& ptxas, std::string_view ptx,
                                  const std::string& arch, uint32_t registers);

}  // namespace cuproof
