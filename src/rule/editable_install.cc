#include "rule/editable_install.h"

#include "link/environment.h"
#include "link/text_file.h"

namespace cuproof {
namespace {

bool HasProjectFile(const std::string& folder) {
  for (const char* name : {"pyproject.toml", "setup.py", "setup.cfg"}) {
    if (IsFile(JoinPath(folder, name))) return true;
  }
  return false;
}

// A finder names packages; a .pth names the project's folder, or src in it.
bool IsProject(const PathEntry& entry) {
  if (entry.from.starts_with("__editable__") && entry.from.ends_with("_finder.py")) return true;
  return HasProjectFile(entry.folder) ||
         HasProjectFile(entry.folder.substr(0, entry.folder.rfind('/')));
}

}  // namespace

std::vector<RootPart> EditableParts(const std::vector<std::string>& paths,
                                    const HostOptions& options) {
  std::vector<RootPart> parts;
  for (uint32_t i = 0; i < paths.size(); ++i) {
    if (!IsFolder(paths[i])) continue;
    EnvironmentOptions wanted;
    wanted.folder = paths[i];
    wanted.sysroot = options.sysroot;
    const Environment environment = FindEnvironment(wanted);
    if (environment.kind != EnvironmentKind::kVenv && environment.kind != EnvironmentKind::kConda) {
      continue;
    }
    for (const PathEntry& entry : environment.path_entries) {
      if (IsProject(entry)) parts.push_back({i, entry.folder});
    }
  }
  return parts;
}

}  // namespace cuproof
