#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "rule/rule.h"
#include "target/compat.h"
#include "target/facts.h"

namespace cuproof {
namespace {

// What to build with to reach the GPUs, and who can: a toolkit too old or too new for one cannot.
std::string FixFor(const FileContext& context, const std::vector<size_t>& gpus) {
  std::vector<std::string> flags;
  std::vector<std::string> list;
  std::vector<std::string> limits;
  for (const size_t index : gpus) {
    const Gpu& gpu = context.target.gpus[index];
    const ArchFact* fact = FindArch(gpu.sm);
    if (!fact) continue;
    flags.push_back(fmt::format("-gencode arch=compute_{0},code=sm_{0}", gpu.sm));
    list.push_back(CapabilityText(gpu.sm));
    if (fact->last_cuda.known()) {
      limits.push_back(
          fmt::format("{} up to CUDA {}", GpuTarget(gpu), VersionText(fact->last_cuda)));
    } else if (fact->first_cuda.known()) {
      limits.push_back(
          fmt::format("{} from CUDA {}", GpuTarget(gpu), VersionText(fact->first_cuda)));
    }
    const auto& cuda = context.target.cuda;
    if (cuda && !NvccTargets(*cuda, {gpu.sm, 0})) {
      limits.back() += fmt::format(" (not {})", VersionText(*cuda));
    }
  }
  if (flags.empty()) return {};
  constexpr size_t kFew = 3;
  std::string text = fmt::format("rebuild with TORCH_CUDA_ARCH_LIST=\"{}\"", fmt::join(list, ";"));
  if (flags.size() <= kFew) text += fmt::format(" or {}", fmt::join(flags, " "));
  return text + fmt::format("; nvcc can: {}", fmt::join(limits, ", "));
}

// A text alone is compiled for its target and every later GPU.
std::string TextFixFor(const FileContext& context, const std::vector<size_t>& gpus) {
  uint32_t lowest = UINT32_MAX;
  for (const size_t gpu : gpus) lowest = std::min(lowest, context.target.gpus[gpu].sm);
  return fmt::format("generate it for compute_{}", lowest);
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
    return "sm_100a is B200 only; -gencode arch=compute_100f,code=sm_100f covers B200 and B300 "
           "with one image";
  }
  if (gpu.sm == 121 && holds({120, 'a'})) {
    return "sm_120a is for compute capability 12.0 only; sm_120 and 120f run on 12.1 too";
  }
  return {};
}

void AddEvidence(const FileContext& context, size_t gpu, Finding& finding) {
  const FileVerdict& verdict = context.file.verdicts[gpu];
  const Gpu& target = context.target.gpus[gpu];
  if (verdict.image >= 0) {
    const auto index = static_cast<size_t>(verdict.image);
    finding.evidence.push_back(fmt::format("nearest for {}: {}; {}", GpuTarget(target),
                                           ImageEvidence(context.file.images, index),
                                           WhyNot(context.file.images.images[index], target)));
  }
  if (const std::string hint = HintFor(context, target); !hint.empty()) {
    finding.evidence.push_back(hint);
  }
}

const char* Consequence(Role role) {
  switch (role) {
    case Role::kVariant:
      return "; another file of the same set does";
    case Role::kOptional:
      return "; no other file links to it, so only what it adds fails there";
    case Role::kRequired:
      break;
  }
  return "";
}

}  // namespace

void RuleNoImage(const FileContext& context, std::vector<Finding>& findings) {
  const FileImages& images = context.file.images;
  std::map<Role, std::vector<size_t>> by_role;
  for (const Reason reason : {Reason::kNoImage, Reason::kPtxTarget}) {
    for (const size_t gpu : GpusWith(context, Outcome::kDoesNotRun, reason)) {
      by_role[RoleFor(context, gpu)].push_back(gpu);
    }
  }
  for (const auto& [role, gpus] : by_role) {
    Finding finding = NewFinding(context, "CP101", FailureSeverity(context, gpus));
    finding.subject = GpuList(context, gpus);
    finding.message = fmt::format("no image runs on {}{}", finding.subject, Consequence(role));
    finding.evidence.push_back("it holds " + TargetList(images));
    for (const size_t gpu : gpus) AddEvidence(context, gpu, finding);
    if (finding.severity != Severity::kNote) {
      finding.evidence.emplace_back(images.kind == FileKind::kPtx
                                        ? "at run time: error 218 (a PTX JIT compilation failed)"
                                        : "at run time: error 209 (no kernel image is available) "
                                          "or 98 (invalid device function)");
      finding.fix =
          images.kind == FileKind::kPtx ? TextFixFor(context, gpus) : FixFor(context, gpus);
    }
    finding.source = "CUDA programming guide: binary compatibility, family-specific features";
    finding.verified_on = "H200 r580.159 for sm_90, other GPUs by document";
    findings.push_back(std::move(finding));
  }
}

}  // namespace cuproof
