#pragma once
#include <string>
#include <vector>

#include "container/unit.h"
#include "rule/host_load.h"

namespace cuproof {

/// The folders of projects that environments among `paths` have as editable installs: what their
/// .pth files and finders lead to. A folder on sys.path that is no project is not one: it may be
/// anything, as somebody's home.
std::vector<RootPart> EditableParts(const std::vector<std::string>& paths,
                                    const HostOptions& options);

}  // namespace cuproof
