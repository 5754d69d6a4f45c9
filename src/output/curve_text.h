#pragma once
#include <string>

#include "output/style.h"
#include "resource/curve.h"

namespace cuproof {

/// Warps by registers and by threads of a block, as bars. `name` is escaped.
std::string CurveText(const std::string& name, const Curves& curves, const Style& style);

/// The same as a picture. `name` is not escaped.
std::string CurveSvg(const std::string& name, const Curves& curves);

}  // namespace cuproof
