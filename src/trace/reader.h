#pragma once
#include <string>

#include "trace/model.h"

namespace cuproof::trace {

/// Reads a run folder, while the program runs or after its end. Files that cannot be read are
/// problems of the run; only a folder that holds nothing of a run is an error.
Result<Run> ReadRun(const std::string& folder);

/// Joins what one process left: `ring` and `events` are the bytes of its two files, either may be
/// empty. Problems are appended without the name of a file.
Process ReadProcess(std::string stem, ByteView ring, ByteView events, std::vector<Error>& problems);

}  // namespace cuproof::trace
