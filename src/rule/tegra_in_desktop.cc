#include <fmt/format.h>

#include "rule/rule.h"
#include "target/facts.h"

namespace cuproof {
namespace {

bool TegraSassOnly(const FileImages& images, const Module& module) {
  if (module.image_count == 0) return false;
  for (uint32_t i = 0; i < module.image_count; ++i) {
    const Image& image = images.images[module.first_image + i];
    const ArchFact* fact = FindArch(CurrentSm(image.arch.number));
    if (image.kind != ImageKind::kCubin || !fact || fact->platform != Platform::kTegra)
      return false;
  }
  return true;
}

}  // namespace

// A kernel family whose only target is a Jetson chip, in a file for x86-64: it can run nowhere.
// That sm_87 looks like a base for sm_89 is how it gets there (report R03). Libraries that give
// every architecture its own module do this on purpose, and there the same bytes are a note
// (CP109).
void RuleTegraInDesktop(const FileContext& context, std::vector<Finding>& findings) {
  const FileImages& images = context.file.images;
  if (images.host.machine != "x86-64") return;
  size_t single_image = 0;
  std::vector<uint32_t> tegra;
  for (uint32_t i = 0; i < images.modules.size(); ++i) {
    single_image += images.modules[i].image_count == 1 ? 1 : 0;
    if (TegraSassOnly(images, images.modules[i])) tegra.push_back(i);
  }
  const bool one_arch_a_module =
      single_image * 2 > images.modules.size() && images.modules.size() > 16;
  if (tegra.empty() || one_arch_a_module) return;
  Finding finding = NewFinding(context, "CP115", Severity::kWarning);
  finding.message = fmt::format(
      "modules with Tegra (Jetson) code only, which no x86-64 machine can run: {} of {}",
      tegra.size(), images.modules.size());
  finding.evidence.push_back(ImageEvidence(images, images.modules[tegra.front()].first_image));
  finding.fix =
      "build those sources for the desktop number: 8.7 is Jetson Orin, 8.6 and 8.9 are cards";
  finding.source = "CUDA programming guide: binary compatibility; report R03";
  finding.verified_on = "by document";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
