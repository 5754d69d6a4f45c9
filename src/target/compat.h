#pragma once
#include <string>

#include "image/image.h"
#include "target/target.h"

namespace cuproof {

enum class Fit : uint8_t { kYes, kNo, kUnknown };

/// Whether SASS for `arch` runs on `gpu`: same major and minor equal or higher; `a` on exactly that
/// capability; `f` within its family; Tegra and desktop parts never each other's. Source: CUDA
/// programming guide, "Binary compatibility" and "Family-specific features".
Fit SassFits(Arch arch, const Gpu& gpu);

/// Whether PTX with `.target sm_<arch>` can be compiled for `gpu`: plain targets for every equal or
/// higher capability, `a` and `f` as for SASS. Verified with ptxas 13.0, each target for each GPU.
Fit PtxFits(Arch arch, const Gpu& gpu);

/// Why an image does not fit, in a clause: "sm_100a runs on compute capability 10.0 only".
std::string WhyNot(const Image& image, const Gpu& gpu);

/// "10.3".
std::string CapabilityText(uint32_t sm);

}  // namespace cuproof
