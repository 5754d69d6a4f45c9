#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "rule/rule.h"
#include "target/libc_levels.h"

namespace cuproof {

// Parts of CUDA that call each other and must be of one release.
static constexpr std::array<std::string_view, 12> kStems = {
    "libcublas.so",    "libcublasLt.so", "libcudart.so",   "libcudnn",
    "libcufft.so",     "libcurand.so",   "libcusolver.so", "libcusparse.so",
    "libnvJitLink.so", "libnvrtc",       "libnccl.so",     "libcusparseLt.so"};

bool IsCudaLibrary(std::string_view name) {
  for (const std::string_view stem : kStems) {
    if (name.starts_with(stem)) return true;
  }
  return false;
}

bool IsReplacedCopy(const HostCopy& copy, std::string_view name) {
  return copy.name == name && IsCudaLibrary(name) && copy.winner_by == "LD_LIBRARY_PATH";
}

// "another libcublas.so.12 (12.4.5.8)", "an older", "a newer".
static std::string Compared(const HostCopy& copy) {
  const bool known = IsNumberedVersion(copy.winner_release) &&
                     IsNumberedVersion(copy.loser_release) &&
                     copy.winner_release != copy.loser_release;
  if (!known) return "another " + copy.name;
  return fmt::format(
      "{} {}", VersionBefore(copy.winner_release, copy.loser_release) ? "an older" : "a newer",
      copy.name);
}

static std::string WithRelease(const std::string& path, const std::string& release) {
  return release.empty() ? path : fmt::format("{}, release {}", path, release);
}

// What CP202 would say of each symbol is said with the copy that is to blame.
static void AddUndefined(const HostLoad& load, const HostCopy& copy, Finding& finding) {
  size_t more = 0;
  for (const HostSymbol& symbol : load.symbols) {
    if (symbol.version.empty() || symbol.version_file != copy.name) continue;
    if (more++ > 0) continue;
    finding.evidence.push_back(
        fmt::format("at import: undefined symbol: {}, version {}", symbol.name, symbol.version));
  }
  if (more == 0) return;
  finding.severity = std::max(finding.severity, LoadSeverity(load));
  if (more > 1) finding.evidence.push_back(fmt::format("and {} more symbols of it", more - 1));
}

void RuleLibraryCopies(const FileContext& context, std::vector<Finding>& findings) {
  for (const HostCopy& copy : context.file.host->copies) {
    // The loader's own order is no fault where a package brings the copy that wins; one that
    // LD_LIBRARY_PATH puts before the package's own is (reports R70, R72, R74).
    if (!IsReplacedCopy(copy, copy.name)) continue;
    Finding finding = NewFinding(context, "CP303", Severity::kWarning);
    finding.subject = copy.name;
    finding.message = fmt::format(
        "LD_LIBRARY_PATH puts {} before the one that it was installed with", Compared(copy));
    finding.evidence.push_back("taken: " + WithRelease(copy.winner, copy.winner_release));
    finding.evidence.push_back(fmt::format(
        "not taken: {} ({})", WithRelease(copy.loser, copy.loser_release), copy.loser_by));
    if (!context.file.host->replaced) AddUndefined(*context.file.host, copy, finding);
    finding.fix = "unset LD_LIBRARY_PATH, or take that folder out of it";
    finding.source = "ld.so(8): search order; report R70";
    finding.verified_on = "glibc 2.36, tools/loader_oracle";
    findings.push_back(std::move(finding));
  }
}

}  // namespace cuproof
