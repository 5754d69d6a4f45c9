#pragma once
#include <string>
#include <vector>

#include "resource/kernel_survey.h"
#include "resource/launch_question.h"
#include "rule/report.h"

namespace cuproof {

/// docs/schema/resources.schema.json. Every kernel, in file order.
std::string ResourcesJson(const Survey& survey, const LaunchQuestion& question,
                          const std::vector<Finding>& findings, const std::string& version);

/// "exact", "by annotation", "at most", "unknown".
const char* SpillBasisName(const std::optional<Spills>& spills);

}  // namespace cuproof
