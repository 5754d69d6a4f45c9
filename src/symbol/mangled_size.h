#pragma once
#include <cstdint>
#include <string_view>

namespace cuproof {

/// At most how many letters a mangled name is when it is demangled. A name refers back to its own
/// parts, so that each dozen letters can double its text: asking a demangler is not safe before
/// this has been asked. UINT64_MAX for a name whose grammar is not known here; such ones are not
/// safe at all: libstdc++ of GCC 12 never returns from "_ZaaAsrUSav".
uint64_t DemangledSizeBound(std::string_view mangled);

}  // namespace cuproof
