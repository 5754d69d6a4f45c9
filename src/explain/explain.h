#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "rule/report.h"
#include "trace/model.h"

namespace cuproof {

/// Why a recorded call returned an error: a finding (CP5xx), and what belongs to it.
struct Explanation {
  Finding finding;
  size_t process = 0;                     // index in Run::processes, of the first one
  size_t error = 0;                       // index in Process::errors, of the first one
  uint64_t count = 1;                     // equal errors
  bool exact = true;                      // false: there may have been more of them
  size_t processes = 1;                   // that an equal note came from
  size_t last_process = 0;                // of these
  std::vector<std::string> driver_words;  // what the driver itself said, verbatim
};

/// Explains every recorded error, equal ones as one; worst first, then by time. Reads images of the
/// run folder, and files that images were mapped from.
std::vector<Explanation> ExplainRun(const trace::Run& run);

}  // namespace cuproof
