#include <fmt/format.h>

#include "rule/rule.h"
#include "target/compat.h"

namespace cuproof {
namespace {

// A file that runs, with modules that do not. In the libraries of NVIDIA each module serves one
// architecture and half of them never run on a given GPU; a few out of many is how a kernel family
// that was built for the wrong targets looks (reports R03, R25).
constexpr uint32_t kFew = 4;

bool Runs(const FileVerdict& verdict) {
  return verdict.outcome == Outcome::kRunsSass || verdict.outcome == Outcome::kRunsJit;
}

// No base target that is older than this GPU: a Hopper-only module says nothing on an A100.
bool ForOthersOnly(const FileImages& images, const Module& module, const Gpu& gpu) {
  for (uint32_t i = 0; i < module.image_count; ++i) {
    const Image& image = images.images[module.first_image + i];
    if (!image.arch.suffix && image.arch.number <= gpu.sm) return false;
  }
  return true;
}

}  // namespace

void RulePartial(const FileContext& context, std::vector<Finding>& findings) {
  if (!context.target.named) return;
  const FileImages& images = context.file.images;
  for (size_t i = 0; i < context.file.verdicts.size(); ++i) {
    const FileVerdict& verdict = context.file.verdicts[i];
    const Gpu& gpu = context.target.gpus[i];
    if (!Runs(verdict) || verdict.failed_modules == 0) continue;
    const Module& module = images.modules[verdict.failed.front()];
    const ModuleVerdict one = JudgeModule(images, module, gpu, context.target.driver);
    const bool too_new = one.reason == Reason::kPtxTooNew;
    const bool few = verdict.failed_modules * kFew <= images.modules.size();
    if (!too_new && (!few || ForOthersOnly(images, module, gpu))) continue;
    // PTX in reach of the GPU was meant to be compiled for it; here that fails.
    Finding finding = NewFinding(context, "CP106", too_new ? Severity::kWarning : Severity::kNote);
    finding.subject = GpuTarget(gpu);
    finding.message = fmt::format(
        "{} of its {} modules do not run on {}: kernels in them fail when they are used",
        verdict.failed_modules, images.modules.size(), GpuTarget(gpu));
    for (const uint32_t failed : verdict.failed) {
      const Module& at = images.modules[failed];
      const ModuleVerdict why = JudgeModule(images, at, gpu, context.target.driver);
      if (why.image < 0) continue;
      const auto index = static_cast<size_t>(why.image);
      finding.evidence.push_back(fmt::format(
          "module {} of {} image{}: {}; {}", failed, at.image_count, at.image_count == 1 ? "" : "s",
          ImageEvidence(images, index),
          why.reason == Reason::kPtxTooNew ? std::string("newer than the driver (error 222)")
                                           : WhyNot(images.images[index], gpu)));
      if (finding.evidence.size() == 3) break;
    }
    finding.fix = fmt::format("build every source file for {}, not only some", GpuTarget(gpu));
    finding.source = "reports R03, R25";
    finding.verified_on = "H200 r580.159 for each module; by document for other GPUs";
    findings.push_back(std::move(finding));
  }
}

}  // namespace cuproof
