#pragma once
#include <string>

#include "output/link_json.h"

namespace cuproof {

/// The same as LinkJson in lines for people; the loads that came first only where they failed.
std::string LinkText(const LinkReport& report);

}  // namespace cuproof
