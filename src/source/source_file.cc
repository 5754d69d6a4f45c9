#include "source/source_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "bytes/mapped_file.h"

namespace cuproof {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFiles = 50'000;
constexpr size_t kMaxVisited = 500'000;
constexpr uint64_t kMaxSize = uint64_t{4} << 20;

bool IsForeign(const fs::path& folder) {
  constexpr std::string_view kNames[] = {"site-packages", "dist-packages", "node_modules", ".git",
                                         "build",         "CMakeFiles",    "conda-meta",   "_deps"};
  const std::string name = folder.filename().string();
  std::error_code error;
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         fs::exists(folder / "pyvenv.cfg", error) || fs::exists(folder / "conda-meta", error);
}

}  // namespace

SourceKind SourceKindOf(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const size_t dot = name.rfind('.');
  const std::string_view ending = dot == std::string_view::npos ? "" : name.substr(dot);
  const auto is = [&](std::initializer_list<std::string_view> endings) {
    return std::find(endings.begin(), endings.end(), ending) != endings.end();
  };
  if (is({".cu", ".cuh"})) return SourceKind::kCuda;
  if (is({".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".c", ".inl"})) return SourceKind::kCxx;
  // Of Python only what builds: other code names architectures for reasons of its own.
  if (name == "setup.py") return SourceKind::kPython;
  if (name == "CMakeLists.txt" || ending == ".cmake") return SourceKind::kCmake;
  if (name == "Makefile" || name == "makefile" || name == "GNUmakefile" || ending == ".mk") {
    return SourceKind::kMakefile;
  }
  return name == "pyproject.toml" ? SourceKind::kToml : SourceKind::kNone;
}

std::vector<std::string> FindSources(const std::string& path) {
  std::vector<std::string> found;
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    if (SourceKindOf(path) != SourceKind::kNone) found.push_back(path);
    return found;
  }
  if (!fs::is_directory(path, error) || fs::exists(fs::path(path) / "pyvenv.cfg", error) ||
      fs::exists(fs::path(path) / "conda-meta", error)) {
    return found;
  }
  size_t visited = 0;
  fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    if (++visited > kMaxVisited || found.size() == kMaxFiles) break;
    if (at->is_directory(error)) {
      if (IsForeign(at->path())) at.disable_recursion_pending();
      continue;
    }
    const std::string file = at->path().string();
    if (SourceKindOf(file) != SourceKind::kNone && at->is_regular_file(error) &&
        !at->is_symlink(error)) {
      found.push_back(file);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

Result<SourceFile> ReadSource(const std::string& path) {
  const auto mapped = MappedFile::Open(path);
  if (!mapped) return mapped.error();
  if (mapped->bytes().size() > kMaxSize) {
    return Error{ErrorCode::kTooLarge,
                 fmt::format("a source of {} bytes: the bound is 4 MB", mapped->bytes().size()),
                 path, std::nullopt};
  }
  return SourceFile{path, SourceKindOf(path), std::string(mapped->bytes().Text())};
}

}  // namespace cuproof
