#pragma once
#include <string>

#include "output/style.h"
#include "resource/kernel_lines.h"

namespace cuproof {

struct ResourcesTextOptions {
  LaunchQuestion question;
  KernelOrder order = KernelOrder::kSpills;
  size_t top = 0;  // rows of a file; 0: as many as are usually read, or all with --verbose
  bool advice = false;
  std::vector<Gpu> gpus = {};  // that were named
};

/// A table for each file, and what its marks mean.
std::string ResourcesText(const Survey& survey, const ResourcesTextOptions& options,
                          const Style& style);

}  // namespace cuproof
