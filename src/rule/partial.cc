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

ModuleVerdict JudgedModule(const FileContext& context, uint32_t module, const Gpu& gpu) {
  const FileImages& images = context.file.images;
  return JudgeModule(images, images.modules[module], gpu, context.target.driver);
}

size_t OthersFailing(const FileVerdict& verdict) {
  return verdict.failed_modules - verdict.too_new.size();
}

Finding PartialFinding(const FileContext& context, Severity severity, const Gpu& gpu) {
  Finding finding = NewFinding(context, "CP106", severity);
  finding.subject = GpuTarget(gpu);
  finding.source = "reports R03, R25";
  finding.verified_on = "H200 r580.159 for each module; other GPUs and drivers by document";
  return finding;
}

constexpr size_t kShown = 3;

void AddTooNew(const FileContext& context, const FileVerdict& verdict, const Gpu& gpu,
               std::vector<Finding>& findings) {
  if (verdict.too_new.empty() || !context.target.driver) return;
  const FileImages& images = context.file.images;
  Finding finding = PartialFinding(context, Severity::kWarning, gpu);
  finding.message = fmt::format(
      "modules with PTX for {} that is newer than {}: {} of {}; a kernel in one of them fails when "
      "it is launched",
      GpuTarget(gpu), DriverName(*context.target.driver), verdict.too_new.size(),
      images.modules.size());
  // The newest ISA asks for the newest driver; one module of it is enough to know.
  Version newest;
  DriverFloor floor;
  for (const uint32_t module : verdict.too_new) {
    const Module& place = images.modules[module];
    Version highest;
    for (uint32_t i = 0; i < place.image_count; ++i) {
      const Image& image = images.images[place.first_image + i];
      if (image.kind == ImageKind::kPtx) highest = std::max(highest, image.version);
    }
    const bool shown = finding.evidence.size() < kShown;
    if (!shown && highest <= newest) continue;
    newest = std::max(newest, highest);
    const ModuleVerdict why = JudgedModule(context, module, gpu);
    Raise(floor, why.floor);
    if (!shown || why.image < 0) continue;
    finding.evidence.push_back(fmt::format("module {}, {}; newer than the driver (error 222)",
                                           module,
                                           ImageEvidence(images, static_cast<size_t>(why.image))));
  }
  finding.fix = fmt::format(
      "add SASS for {0} to every source file (-gencode "
      "arch=compute_{1},code=sm_{1})",
      GpuTarget(gpu), gpu.sm);
  if (floor.branch) {
    finding.fix +=
        fmt::format(", or use driver {} or newer",
                    floor.number.empty() ? fmt::format("r{}", floor.branch) : floor.number);
  }
  findings.push_back(std::move(finding));
}

void AddWithoutCode(const FileContext& context, const FileVerdict& verdict, const Gpu& gpu,
                    std::vector<Finding>& findings) {
  const FileImages& images = context.file.images;
  if (!FewFail(images, verdict)) return;
  Finding finding = PartialFinding(context, Severity::kNote, gpu);
  for (const uint32_t module : verdict.failed) {
    if (finding.evidence.size() == kShown) break;
    if (ForOthersOnly(images, images.modules[module], gpu)) continue;
    const ModuleVerdict why = JudgedModule(context, module, gpu);
    if (why.image < 0 || why.reason == Reason::kPtxTooNew) continue;
    const auto index = static_cast<size_t>(why.image);
    finding.evidence.push_back(fmt::format("module {}, {}; {}", module,
                                           ImageEvidence(images, index),
                                           WhyNot(images.images[index], gpu)));
  }
  if (finding.evidence.empty()) return;
  finding.message = fmt::format(
      "modules without code for {}: {} of {}; a kernel in one of them fails when it is launched",
      GpuTarget(gpu), OthersFailing(verdict), images.modules.size());
  finding.fix = fmt::format("build every source file for {}, not only some", GpuTarget(gpu));
  findings.push_back(std::move(finding));
}

}  // namespace

bool FewFail(const FileImages& images, const FileVerdict& verdict) {
  constexpr uint32_t kFew = 4;
  const size_t failing = OthersFailing(verdict);
  return Runs(verdict) && failing > 0 && failing * kFew <= images.modules.size();
}

void RulePartial(const FileContext& context, std::vector<Finding>& findings) {
  if (!context.target.named) return;
  for (size_t i = 0; i < context.file.verdicts.size(); ++i) {
    const FileVerdict& verdict = context.file.verdicts[i];
    if (!Runs(verdict)) continue;
    AddTooNew(context, verdict, context.target.gpus[i], findings);
    AddWithoutCode(context, verdict, context.target.gpus[i], findings);
  }
}

}  // namespace cuproof
