#include <fmt/format.h>

#include "rule/rule.h"
#include "target/compat.h"
#include "target/facts.h"

namespace cuproof {
namespace {

// What to build with to reach `gpu`, or who can: a toolkit too old or too new for it cannot.
std::string FixFor(const FileContext& context, const Gpu& gpu) {
  const ArchFact* fact = FindArch(gpu.sm);
  if (!fact) return {};
  std::string text = fmt::format(
      "rebuild with -gencode arch=compute_{0},code=sm_{0} (TORCH_CUDA_ARCH_LIST=\"{1}\")", gpu.sm,
      CapabilityText(gpu.sm));
  if (fact->last_cuda.known()) {
    text += fmt::format("; CUDA {} is the last toolkit that can", VersionText(fact->last_cuda));
  } else {
    text += fmt::format("; needs CUDA {} or newer", VersionText(fact->first_cuda));
  }
  const auto& cuda = context.target.cuda;
  if (cuda && !NvccTargets(*cuda, {gpu.sm, 0})) {
    text += fmt::format(", CUDA {} cannot", VersionText(*cuda));
  }
  return text;
}

// The confusions that fill the reports: chips whose names say less than their numbers.
std::string HintFor(const FileContext& context, const Gpu& gpu) {
  const auto holds = [&](Arch arch) {
    for (const Image& image : context.file.images.images) {
      if (image.arch == arch && image.kind == ImageKind::kCubin) return true;
    }
    return false;
  };
  if (gpu.sm == 100 && (holds({120, 0}) || holds({120, 'a'}) || holds({120, 'f'}))) {
    return "sm_120 is the consumer and workstation Blackwell (RTX 50); B200 is sm_100";
  }
  if (gpu.sm == 120 && (holds({100, 0}) || holds({100, 'a'}) || holds({100, 'f'}))) {
    return "sm_100 is the data-center Blackwell (B200); RTX 50 and RTX PRO Blackwell are sm_120";
  }
  if (gpu.sm == 103 && holds({100, 'a'})) {
    return "sm_100a is B200 only; build for 10.0f to cover B200 and B300 with one image";
  }
  if (gpu.sm == 121 && holds({120, 'a'})) {
    return "sm_120a is for compute capability 12.0 only; sm_120 and 120f run on 12.1 too";
  }
  return {};
}

}  // namespace

void RuleNoImage(const FileContext& context, std::vector<Finding>& findings) {
  const FileImages& images = context.file.images;
  std::vector<size_t> missing;
  std::vector<size_t> optional;
  for (const size_t gpu : GpusWith(context, Outcome::kDoesNotRun, Reason::kNoImage)) {
    (SiblingCovers(context, gpu) ? optional : missing).push_back(gpu);
  }
  const auto add = [&](const std::vector<size_t>& gpus, Severity severity, const char* tail) {
    if (gpus.empty()) return;
    Finding finding = NewFinding(context, "CP101", severity);
    finding.subject = GpuList(context, gpus);
    finding.message = fmt::format("no image runs on {}{}", finding.subject, tail);
    finding.evidence.push_back("it holds " + TargetList(images));
    for (const size_t gpu : gpus) {
      const FileVerdict& verdict = context.file.verdicts[gpu];
      const Gpu& target = context.target.gpus[gpu];
      if (verdict.image >= 0) {
        const auto index = static_cast<size_t>(verdict.image);
        finding.evidence.push_back(fmt::format("nearest for {}: {}; {}", GpuTarget(target),
                                               ImageEvidence(images, index),
                                               WhyNot(images.images[index], target)));
      }
      if (const std::string hint = HintFor(context, target); !hint.empty()) {
        finding.evidence.push_back(hint);
      }
    }
    if (severity == Severity::kError) {
      finding.evidence.emplace_back(
          "at run time: error 209 (no kernel image is available) or 98 (invalid device function)");
      finding.fix = FixFor(context, context.target.gpus[gpus.front()]);
    }
    finding.source = "CUDA programming guide: binary compatibility, family-specific features";
    finding.verified_on = "H200 r580.159 for sm_90, other GPUs by document";
    findings.push_back(std::move(finding));
  };
  add(missing, FailureSeverity(context), "");
  add(optional, Severity::kNote, "; another file of the same set covers it");
}

}  // namespace cuproof
