#include <fmt/format.h>

#include <algorithm>

#include "rule/rule.h"
#include "target/facts.h"

namespace cuproof {

namespace {

// `.target sm_77` of a known range is in no ISA; what is above it may come with a later one.
std::string WhatItNeeds(Arch arch, const std::optional<Version>& first) {
  if (first) return fmt::format("it needs {} or newer", VersionText(*first));
  return arch.number > ArchFacts().back().sm ? "no PTX ISA of this data has this target"
                                             : "no PTX ISA has this target";
}

// The toolkit must know both the ISA and the GPU: 8.6 has sm_100 and is that of 12.7, which was
// never public.
std::string FixFor(Arch arch, const std::optional<Version>& first) {
  const ArchFact* fact = FindArch(arch.number);
  if (!first) {
    if (!fact) return "generate it for a target that exists (data/ptx_targets.tsv)";
    return fmt::format("generate it for a target that exists, such as sm_{}", arch.number);
  }
  const IsaFact* isa = FindIsa(*first);
  if (!isa) return {};
  Version cuda = fact ? std::max(isa->cuda, fact->first_cuda) : isa->cuda;
  Version next = cuda;
  ++next.minor;
  if (!FirstDriverOf(cuda) && FirstDriverOf(next)) cuda = next;
  return fmt::format("generate it with CUDA {} or newer", VersionText(cuda));
}

}  // namespace

void RulePtxInvalid(const FileContext& context, std::vector<Finding>& findings) {
  const std::vector<size_t> gpus = GpusWith(context, Outcome::kDoesNotRun, Reason::kPtxInvalid);
  if (gpus.empty()) return;
  const auto index = static_cast<size_t>(context.file.verdicts[gpus.front()].image);
  const Image& image = context.file.images.images[index];
  const auto first = FirstIsa(image.arch);
  // No GPU and no driver can take such a text, so this is an error with or without a target.
  Finding finding = NewFinding(context, "CP113", Severity::kError);
  finding.subject = ImageTarget(image);
  finding.message =
      fmt::format("PTX ISA {} does not have .target sm_{}; {}", VersionText(image.version),
                  ArchText(image.arch), WhatItNeeds(image.arch, first));
  finding.evidence.push_back(ImageEvidence(context.file.images, index));
  finding.evidence.emplace_back("at run time: error 218 (a PTX JIT compilation failed)");
  finding.fix = FixFor(image.arch, first);
  finding.source = "PTX ISA manual: .target";
  finding.verified_on =
      "ptxas of several releases, H200 r580.159; other GPUs and drivers by document";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
