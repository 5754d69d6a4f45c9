#pragma once
#include <string>
#include <vector>

#include "source/source_file.h"

namespace cuproof {

/// What stands within an expression that chooses, and what is only said to people.
struct BuildScopes {
  std::string text;               // of the same size and lines, what is only said left blank
  std::vector<bool> conditional;  // by line, from 0: a part of it is one choice of several
};

/// Of Python: values of `a if b else c`, of a comprehension with a condition, and of a table by
/// releases ({"12": …}). Of CMake: generator expressions. Arguments of print, help= and message(),
/// and texts in sentences, are said to people.
BuildScopes ReadBuildScopes(const SourceFile& file);

}  // namespace cuproof
