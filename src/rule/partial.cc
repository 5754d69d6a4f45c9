#include <fmt/format.h>

#include <algorithm>

#include "rule/rule.h"
#include "target/compat.h"

namespace cuproof {
namespace {

bool Runs(const FileVerdict& verdict) {
  return verdict.outcome == Outcome::kRunsSass || verdict.outcome == Outcome::kRunsJit;
}

// Made for other GPUs on purpose: one target only, as in libraries that choose among modules (the
// Volta kernels of cuDNN), or no plain target that is older than this GPU (a Hopper-only module on
// an A100).
bool ForOthersOnly(const FileImages& images, const Module& module, const Gpu& gpu) {
  bool in_reach = false;
  bool several = false;
  for (uint32_t i = 0; i < module.image_count; ++i) {
    const Image& image = images.images[module.first_image + i];
    in_reach |= !image.arch.suffix && image.arch.number <= gpu.sm;
    several |= image.arch != images.images[module.first_image].arch;
  }
  return !in_reach || !several;
}

// What the modules that fail on a GPU have in them, and why they fail.
struct Failure {
  uint32_t module;
  ModuleVerdict why;
};

std::vector<Failure> FailuresOf(const FileContext& context, const FileVerdict& verdict,
                                const Gpu& gpu) {
  const FileImages& images = context.file.images;
  const bool few = FewFail(images, verdict);
  std::vector<Failure> failures;
  for (const uint32_t module : verdict.failed) {
    const ModuleVerdict why =
        JudgeModule(images, images.modules[module], gpu, context.target.driver);
    // PTX in reach of the GPU was meant to be compiled for it.
    const bool too_new = why.reason == Reason::kPtxTooNew;
    const bool accident = few && !ForOthersOnly(images, images.modules[module], gpu);
    if (why.image >= 0 && (too_new || accident)) failures.push_back({module, why});
  }
  return failures;
}

std::string FailureText(const FileImages& images, const Failure& failure, const Gpu& gpu) {
  const auto index = static_cast<size_t>(failure.why.image);
  const std::string reason = failure.why.reason == Reason::kPtxTooNew
                                 ? std::string("newer than the driver (error 222)")
                                 : WhyNot(images.images[index], gpu);
  return fmt::format("module {}, {}; {}", failure.module, ImageEvidence(images, index), reason);
}

}  // namespace

bool FewFail(const FileImages& images, const FileVerdict& verdict) {
  constexpr uint32_t kFew = 4;
  return Runs(verdict) && verdict.failed_modules > 0 &&
         verdict.failed_modules * kFew <= images.modules.size();
}

void RulePartial(const FileContext& context, std::vector<Finding>& findings) {
  if (!context.target.named) return;
  const FileImages& images = context.file.images;
  for (size_t i = 0; i < context.file.verdicts.size(); ++i) {
    const FileVerdict& verdict = context.file.verdicts[i];
    if (!Runs(verdict)) continue;
    const Gpu& gpu = context.target.gpus[i];
    const std::vector<Failure> failures = FailuresOf(context, verdict, gpu);
    if (failures.empty()) continue;
    const bool too_new = std::any_of(failures.begin(), failures.end(), [](const Failure& failure) {
      return failure.why.reason == Reason::kPtxTooNew;
    });
    Finding finding = NewFinding(context, "CP106", too_new ? Severity::kWarning : Severity::kNote);
    finding.subject = GpuTarget(gpu);
    finding.message = fmt::format(
        "modules without code for {}: {} of {}; a kernel in one of them fails when it is launched",
        GpuTarget(gpu), verdict.failed_modules, images.modules.size());
    constexpr size_t kShown = 3;
    for (const Failure& failure : failures) {
      if (finding.evidence.size() < kShown) {
        finding.evidence.push_back(FailureText(images, failure, gpu));
      }
    }
    finding.fix = fmt::format("build every source file for {}, not only some", GpuTarget(gpu));
    finding.source = "reports R03, R25";
    finding.verified_on = "H200 r580.159 for each module; by document for other GPUs";
    findings.push_back(std::move(finding));
  }
}

}  // namespace cuproof
