#include <fmt/format.h>

#include <array>
#include <string_view>

#include "rule/rule.h"

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

void RuleLibraryCopies(const FileContext& context, std::vector<Finding>& findings) {
  for (const HostCopy& copy : context.file.host->copies) {
    // The loader's own order is no fault where a package brings the copy that wins; one that
    // LD_LIBRARY_PATH puts before the package's own is (reports R70, R72, R74).
    if (!IsCudaLibrary(copy.name) || copy.winner_by != "LD_LIBRARY_PATH") continue;
    Finding finding = NewFinding(context, "CP303", Severity::kWarning);
    finding.subject = copy.name;
    finding.message = fmt::format(
        "LD_LIBRARY_PATH puts another {} before the one that it was installed with", copy.name);
    finding.evidence.push_back("taken: " + copy.winner);
    finding.evidence.push_back(fmt::format("not taken: {} ({})", copy.loser, copy.loser_by));
    finding.fix = "unset LD_LIBRARY_PATH, or take that folder out of it";
    finding.source = "ld.so(8): search order; report R70";
    finding.verified_on = "glibc 2.36, tools/loader_oracle";
    findings.push_back(std::move(finding));
  }
}

}  // namespace cuproof
