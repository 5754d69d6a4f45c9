#pragma once
#include <cstdint>
#include <string_view>

namespace cuproof {

/// Which std::string a mangled name is written with. Most names tell nothing.
enum class StringAbi : uint8_t {
  kNone,   // no string, list or tagged type in it
  kOld,    // Ss, std::list of before GCC 5: _GLIBCXX_USE_CXX11_ABI=0
  kNew,    // std::__cxx11
  kMixed,  // both: a name about both kinds, as std::string's own conversions are
};

const char* StringAbiName(StringAbi abi);  // "none", "old", "new", "mixed"

StringAbi StringAbiOf(std::string_view mangled);

}  // namespace cuproof
