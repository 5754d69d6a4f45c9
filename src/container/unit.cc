#include "container/unit.h"

#include <cstdlib>

#include "container/zip_pool.h"

namespace cuproof {

const char* RootKindName(RootKind kind) {
  switch (kind) {
    case RootKind::kFile:
      return "file";
    case RootKind::kWheel:
      return "wheel";
    case RootKind::kZip:
      return "zip";
    case RootKind::kFolder:
      return "folder";
    case RootKind::kEnvironment:
      return "environment";
    case RootKind::kProcess:
      return "process";
  }
  return "unknown";
}

Result<std::unique_ptr<UnitBytes>> OpenUnit(const Unit& unit) {
  auto bytes = unit.members.empty() ? MapUnit(unit.file) : ExpandUnit(unit.file, unit.members);
  if (!bytes) bytes.error().file = unit.shown;
  return bytes;
}

std::string ActiveEnvironment() {
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const char* folder = std::getenv(name);
    if (folder && *folder) return folder;
  }
  return {};
}

}  // namespace cuproof
