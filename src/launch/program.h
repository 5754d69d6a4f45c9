#pragma once
#include <string>
#include <vector>

#include "bytes/result.h"

namespace cuproof::launch {

/// What can be told about a command before it is run.
struct Program {
  std::string path;  // the file that would be executed
  // False where its loader cannot take the shim and would complain, or die, if it were asked to;
  // the last note says why.
  bool preload = true;
  std::vector<std::string> notes;  // sentences: what cannot be seen of it
};

/// Finds a command as execvp does, and follows `#!` lines. An error of kNotFound, or of another
/// code where it was found and cannot be executed.
Result<Program> LookAtProgram(const std::string& command);

}  // namespace cuproof::launch
