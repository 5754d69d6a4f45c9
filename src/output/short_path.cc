#include "output/short_path.h"

namespace cuproof {
namespace {

std::string_view WithoutRoot(std::string_view path, std::string_view root) {
  if (root.empty()) return path;
  while (!root.empty() && root.back() == '/') root.remove_suffix(1);
  if (path.substr(0, root.size()) != root) return path;
  std::string_view rest = path.substr(root.size());
  // A slash behind a folder; the others behind an archive whose member follows.
  const size_t start = rest.find_first_not_of("/:!");
  if (start == std::string_view::npos || start == 0) return path;
  return rest.substr(start);
}

std::string_view WithoutPackageFolder(std::string_view path) {
  for (const std::string_view folder : {"site-packages/", "dist-packages/"}) {
    const size_t at = path.find(folder);
    const bool whole = at == 0 || (at != std::string_view::npos && path[at - 1] == '/');
    if (whole && at + folder.size() < path.size()) return path.substr(at + folder.size());
  }
  return path;
}

}  // namespace

std::string ShortPath(const Root& root, std::string_view path) {
  if (root.kind == RootKind::kFile || root.kind == RootKind::kProcess) return std::string(path);
  std::string_view rest = WithoutRoot(path, root.argument);
  if (root.kind == RootKind::kEnvironment) rest = WithoutPackageFolder(rest);
  return std::string(rest);
}

std::string ShortPath(const Report& report, const FileReport& file) {
  if (file.root >= report.roots.size()) return file.path;
  return ShortPath(report.roots[file.root], file.path);
}

}  // namespace cuproof
