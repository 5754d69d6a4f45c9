#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>

#include "resource/cubin_sections.h"

namespace cuproof {

struct SourceLine {
  std::string file;
  uint32_t line = 0;
};

/// Where functions begin in their source, by index of their symbol: from the line table that
/// -lineinfo and -G leave (DWARF 2, .debug_line). Empty where there is none, and where it is
/// damaged.
std::unordered_map<uint32_t, SourceLine> ReadSourceLines(const CubinSections& cubin);

}  // namespace cuproof
