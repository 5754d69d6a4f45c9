#pragma once
#include <string>

#include "bytes/view.h"

namespace cuproof {

/// The build id of an ELF64 file in hexadecimal, by its program headers; empty where it has none.
std::string ReadBuildId(ByteView bytes);

}  // namespace cuproof
