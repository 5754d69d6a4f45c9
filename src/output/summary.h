#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rule/report.h"

namespace cuproof {

/// From which severity on a finding makes the command fail.
enum class FailOn : uint8_t { kError, kWarning, kNever };

/// "error", "warning", "never".
const char* FailOnName(FailOn fail_on);
std::optional<FailOn> ParseFailOn(std::string_view text);

/// What a report does not know about the run that made it.
struct RunInfo {
  std::string version;  // of this program
  FailOn fail_on = FailOn::kError;
};

struct SeverityCounts {
  uint64_t errors = 0;
  uint64_t warnings = 0;
  uint64_t notes = 0;
};
SeverityCounts CountFindings(const Report& report);

/// 2 when an input could not be read, 1 when a finding is at or above the level, else 0.
int ExitCode(const Report& report, FailOn fail_on);

/// False for a file without images, and for one whose images were found to have no kernels in them.
bool HasDeviceCode(const FileReport& file);

/// Files that hold device code.
uint64_t FilesWithDeviceCode(const Report& report);

}  // namespace cuproof
