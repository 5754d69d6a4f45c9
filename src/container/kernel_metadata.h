#pragma once
#include <string>
#include <vector>

#include "container/unit.h"

namespace cuproof {

/// The architectures that the metadata.json beside a file declares, as they stand there: "8.0",
/// "9.0a", "9.0+PTX". It is the form of kernels for the Hugging Face hub: backend.type "cuda",
/// backend.archs. Empty when there is no such file, when it is of another form, and for members of
/// archives.
std::vector<std::string> DeclaredArchs(const Unit& unit);

/// The same out of the text of a metadata.json.
std::vector<std::string> DeclaredArchsIn(const std::string& json);

}  // namespace cuproof
