#pragma once
#include <string>
#include <vector>

#include "output/style.h"
#include "rule/report.h"

namespace cuproof {

struct InspectOptions {
  bool images = false;  // list every image, not only the summary
};

/// What files hold, for people: images in groups of alike ones, every image if wanted, and where
/// the bytes of the file go.
std::string InspectText(const std::vector<FileReport>& files, const InspectOptions& options,
                        const Style& style);

}  // namespace cuproof
