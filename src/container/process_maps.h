#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/result.h"

namespace cuproof {

/// A line of /proc/N/maps that names a file.
struct Mapping {
  std::string range;  // "7f0000000000-7f0000021000"
  bool executable = false;
  uint64_t inode = 0;
  std::string path;  // " (deleted)" included where the kernel says so
};

std::optional<Mapping> ReadMapping(std::string_view line);

struct MappedPath {
  std::string file;   // can be opened
  std::string shown;  // as the process sees it
};

struct ProcessFiles {
  std::string name;  // the process's command name
  std::vector<MappedPath> files;
  std::vector<Error> problems;
};

/// True for "pid:…", which names a process and not a file.
bool NamesProcess(std::string_view argument);

/// The files that the process "pid:N" has mapped, also where it lives in another mount namespace or
/// the file was deleted or replaced since.
Result<ProcessFiles> ListProcess(const std::string& argument);

}  // namespace cuproof
