#include <fmt/format.h>

#include "rule/rule.h"
#include "symbol/demangle.h"

namespace cuproof {

void RuleKernelStub(const FileContext& context, std::vector<Finding>& findings) {
  for (const HostStub& stub : context.file.host->stubs) {
    Finding finding = NewFinding(context, "CP203", Severity::kWarning);
    finding.subject = stub.name;
    finding.message = fmt::format("the kernel {} is exported by two libraries of one process",
                                  DemangledOrSame(stub.name));
    if (stub.others > 0) finding.message += fmt::format(", and {} more are", stub.others);
    finding.evidence.push_back("the loader keeps that of " + stub.winner);
    finding.evidence.push_back(
        fmt::format("{} registers its own device code under the address of that one", stub.loser));
    if (stub.two_runtimes) {
      finding.evidence.emplace_back(
          "one of them has a CUDA runtime of its own inside: a launch is configured in one runtime "
          "and started in the other");
    }
    finding.evidence.emplace_back(
        stub.two_runtimes
            ? "at run time: error 52 (__global__ function call is not configured), or wrong results"
            : "at run time: error 98 (invalid device function), or the kernel of the other "
              "library");
    finding.fix =
        "build both with -fvisibility=hidden, or with CUDA 13, whose nvcc hides kernels by itself";
    finding.source = "reports R21, R78";
    finding.verified_on =
        "symbols of nvcc 13.0 with -static-global-template-stub=false "
        "-device-entity-has-hidden-visibility=false";
    findings.push_back(std::move(finding));
  }
}

}  // namespace cuproof
