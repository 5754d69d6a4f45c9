#pragma once
#include <string>
#include <vector>

#include "link/python_process.h"

namespace cuproof {

/// What `cuproof link` found.
struct LinkedFile {
  std::string file;  // as it was given
  LoadReport report;
  Process process;  // after the load
};
struct LinkReport {
  const Environment& environment;
  const PreparedProcess& prepared;
  std::vector<LinkedFile> files;
};

std::string LinkJson(const LinkReport& report, const std::string& version);

}  // namespace cuproof
