#include <fmt/format.h>

#include "rule/rule.h"
#include "target/facts.h"

namespace cuproof {

void RulePtxDriver(const FileContext& context, std::vector<Finding>& findings) {
  const std::vector<size_t> gpus = GpusWith(context, Outcome::kDoesNotRun, Reason::kPtxTooNew);
  if (gpus.empty() || !context.target.driver) return;
  const FileVerdict& verdict = context.file.verdicts[gpus.front()];
  const Driver& driver = *context.target.driver;
  Finding finding = NewFinding(context, "CP102", FailureSeverity(context, gpus));
  finding.subject = GpuList(context, gpus);
  const auto index = static_cast<size_t>(verdict.image);
  const Image& image = context.file.images.images[index];
  finding.message = fmt::format(
      "only PTX fits {}, and its ISA {} is newer than driver {}, which takes {} at most",
      finding.subject, VersionText(image.version), driver.text,
      VersionText(NewestIsaOf(driver.cuda)));
  finding.evidence.push_back("it would compile " + ImageEvidence(context.file.images, index));
  finding.evidence.push_back("it holds " + TargetList(context.file.images));
  finding.evidence.emplace_back(
      "at run time: error 222 (the provided PTX was compiled with an unsupported toolchain)");
  const Gpu& gpu = context.target.gpus[gpus.front()];
  finding.fix = fmt::format("add SASS for {} (-gencode arch=compute_{},code=sm_{})", GpuTarget(gpu),
                            gpu.sm, gpu.sm);
  if (verdict.floor.branch) {
    finding.fix +=
        fmt::format(", or use driver {} or newer", verdict.floor.number.empty()
                                                       ? fmt::format("r{}", verdict.floor.branch)
                                                       : verdict.floor.number);
  }
  finding.source = "CUDA compatibility guide: minor-version compatibility does not cover PTX";
  finding.verified_on = "H200 r580.159: PTX 9.0 loads, 9.1 and newer give 222";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
