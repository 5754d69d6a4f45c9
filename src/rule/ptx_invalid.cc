#include <fmt/format.h>

#include "rule/rule.h"
#include "target/facts.h"

namespace cuproof {

void RulePtxInvalid(const FileContext& context, std::vector<Finding>& findings) {
  const std::vector<size_t> gpus = GpusWith(context, Outcome::kDoesNotRun, Reason::kPtxInvalid);
  if (gpus.empty()) return;
  const auto index = static_cast<size_t>(context.file.verdicts[gpus.front()].image);
  const Image& image = context.file.images.images[index];
  const auto first = FirstIsa(image.arch);
  // No GPU and no driver can take such a text, so this is an error with or without a target.
  Finding finding = NewFinding(context, "CP113", Severity::kError);
  finding.subject = ImageTarget(image);
  finding.message = fmt::format("PTX ISA {} does not have .target sm_{}; it needs {} or newer",
                                VersionText(image.version), ArchText(image.arch),
                                first ? VersionText(*first) : "another");
  finding.evidence.push_back(ImageEvidence(context.file.images, index));
  finding.evidence.emplace_back("at run time: error 218 (a PTX JIT compilation failed)");
  const IsaFact* isa = first ? FindIsa(*first) : nullptr;
  if (isa) finding.fix = fmt::format("generate it with CUDA {} or newer", VersionText(isa->cuda));
  finding.source = "PTX ISA manual: .target";
  finding.verified_on = "ptxas of several releases, H200 r580.159";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
