#pragma once
#include <string>

#include "source/source_file.h"

namespace cuproof {

inline SourceFile TestSource(const std::string& path, std::string text) {
  return {path, SourceKindOf(path), std::move(text)};
}

}  // namespace cuproof
