#pragma once
#include <functional>
#include <string>
#include <vector>

#include "rule/check.h"

namespace cuproof {

/// Takes the inventory of `paths`, calls `work` on it under a progress bar, and notes the time.
Report ReadInputs(const std::vector<std::string>& paths, unsigned threads, bool deep,
                  const std::function<Report(const Inventory&, const CheckOptions&)>& work,
                  const std::vector<RootPart>& parts = {});

}  // namespace cuproof
