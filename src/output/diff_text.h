#pragma once
#include <string>

#include "diff/compare.h"
#include "output/style.h"

namespace cuproof {

/// What changed, for people: what breaks first, then by kind, sizes last.
std::string DiffText(const Comparison& comparison, const Style& style);

/// The same for a pull request.
std::string DiffMarkdown(const Comparison& comparison);

/// docs/schema/diff.schema.json.
std::string DiffJson(const Comparison& comparison, const std::string& version);

}  // namespace cuproof
