#pragma once
#include <string>
#include <vector>

#include "output/summary.h"
#include "rule/report.h"

namespace cuproof {

/// What files hold, for programs, as docs/schema/inspect.schema.json describes it: one line for
/// each module and image. It is text, not a JSON value: a library can have 24,000 images, and a
/// hostile file many more.
std::string InspectJson(const std::vector<FileReport>& files, const std::vector<Error>& problems,
                        const RunInfo& run = {});

}  // namespace cuproof
