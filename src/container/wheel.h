#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace cuproof {

/// True for "torch-2.6.0.dist-info/METADATA", the member that makes a zip a wheel (PEP 427).
bool IsWheelMetadata(std::string_view member);

/// "torch 2.6.0": from the METADATA text, else from the folder's name.
std::string WheelName(std::string_view member, std::string_view metadata);

}  // namespace cuproof
