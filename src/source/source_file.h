#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/result.h"

namespace cuproof {

/// What kind of text a file is, by its name: source has no first bytes to tell it by.
enum class SourceKind : uint8_t { kNone, kCuda, kCxx, kPython, kCmake, kMakefile, kToml };

SourceKind SourceKindOf(std::string_view path);

struct SourceFile {
  std::string path;
  SourceKind kind = SourceKind::kNone;
  std::string text;
};

/// The CUDA and C++ sources and the build files below a folder, or the file itself. What belongs to
/// others is left out: environments, installed packages, build folders, .git.
std::vector<std::string> FindSources(const std::string& path);

/// Its text. An error for a file of more than 4 MB: nobody wrote that.
Result<SourceFile> ReadSource(const std::string& path);

}  // namespace cuproof
