#include <fmt/format.h>

#include <algorithm>

#include "rule/rule.h"

namespace cuproof {

void RuleStubFolder(const FileContext& context, std::vector<Finding>& findings) {
  const HostLoad& load = *context.file.host;
  const HostFacts& facts = load.facts;
  // libcuda.so without a number is what the toolkit's stub is called, and no driver is on some
  // systems. One who tries the right name too is in order.
  const auto opens = [&](std::string_view name) {
    return std::find(facts.opened.begin(), facts.opened.end(), name) != facts.opened.end();
  };
  const bool opens_stub = opens("libcuda.so") && !opens("libcuda.so.1");
  if (facts.stub_folders.empty() && load.driver_stub.empty()) return;
  Finding finding =
      NewFinding(context, "CP305", load.driver_stub.empty() ? Severity::kNote : Severity::kWarning);
  if (!load.driver_stub.empty()) {
    finding.message = "would load the toolkit's link-time stub in place of the driver";
    finding.evidence.push_back("taken: " + load.driver_stub);
    finding.evidence.emplace_back(
        "at run time: error 34 (CUDA driver is a stub library), or no CUDA device");
  } else {
    finding.message = "its search path has the toolkit's folder of link-time stubs";
    if (opens_stub) finding.evidence.emplace_back("it opens libcuda.so by that name");
  }
  for (const std::string& folder : facts.stub_folders) {
    finding.evidence.push_back("in RPATH or RUNPATH: " + folder);
  }
  finding.fix = "take .../stubs out of it (patchelf --set-rpath), and open libcuda.so.1";
  finding.source = "report R68";
  finding.verified_on = "tests/report_d_test.py";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
