#pragma once
#include <string>
#include <string_view>

#include "rule/report.h"

namespace cuproof {

/// `path` as seen from its root: without the root's own path and, in an environment, without the
/// folder that all packages lie in. Not escaped. A path that does not lie in the root comes back
/// whole.
std::string ShortPath(const Root& root, std::string_view path);

/// The same for a file of the report.
std::string ShortPath(const Report& report, const FileReport& file);

}  // namespace cuproof
