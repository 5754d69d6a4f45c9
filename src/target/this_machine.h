#pragma once
#include <string>
#include <string_view>

namespace cuproof {

/// "580.95.05" out of the kernel module's own text (/proc/driver/nvidia/version); empty when it
/// holds no driver number.
std::string DriverNumberIn(std::string_view kernel_text);

}  // namespace cuproof
