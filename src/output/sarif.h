#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "bytes/result.h"
#include "rule/report.h"

namespace cuproof {

/// What a SARIF file says besides the findings.
struct SarifRun {
  std::string command;  // "check"
  std::string version;  // of this program
  std::string folder;  // URIs are relative to it where a file lies in it; absolute, no slash at end
};

/// The most results that GitHub takes of one run, and the size, uncompressed, that no file of ours
/// goes over: GitHub takes 10 MB after gzip, which makes nothing larger than it was.
inline constexpr size_t kSarifResults = 25'000;
inline constexpr size_t kSarifBytes = 10'000'000;

/// SARIF 2.1.0 with one run. Findings beyond the bounds, the least severe ones, are counted in a
/// notification. Problems (inputs that could not be read) are notifications, too.
std::string SarifText(const std::vector<Finding>& findings, const std::vector<Error>& problems,
                      const SarifRun& run);

/// The same for a finding wherever its file lies and whatever numbers it gives.
std::string FindingFingerprint(const Finding& finding);

/// `path` as a URI reference relative to `folder`, or a file: URI where it lies outside.
std::string FileUri(std::string_view path, std::string_view folder);

}  // namespace cuproof
