#include "target/compat.h"

#include <fmt/format.h>

#include "target/facts.h"

namespace cuproof {
namespace {

Fit FamilyFit(uint32_t f, const Gpu& gpu) {
  const auto member = InFamily(f, gpu.sm);
  // A family that no toolkit knows, of a chip that it does know, does not exist: r580 finds nothing
  // to load in a container that claims sm_90f (tests/gpu).
  if (!member) return FindArch(f) ? Fit::kNo : Fit::kUnknown;
  if (!gpu.in_data) return Fit::kUnknown;
  return *member ? Fit::kYes : Fit::kNo;
}

Platform PlatformOf(uint32_t sm) {
  const ArchFact* fact = FindArch(sm);
  return fact ? fact->platform : Platform::kUnknown;
}

}  // namespace

std::string CapabilityText(uint32_t sm) { return fmt::format("{}.{}", sm / 10, sm % 10); }

Fit SassFits(Arch arch, const Gpu& gpu) {
  const uint32_t sm = CurrentSm(arch.number);
  if (arch.suffix == 'a') return sm == gpu.sm ? Fit::kYes : Fit::kNo;
  if (arch.suffix == 'f') return FamilyFit(sm, gpu);
  if (sm == gpu.sm) return Fit::kYes;
  if (sm / 10 != gpu.sm / 10 || sm > gpu.sm) return Fit::kNo;
  const Platform image = PlatformOf(sm);
  if (image == Platform::kUnknown || gpu.platform == Platform::kUnknown) return Fit::kUnknown;
  return image == gpu.platform && image == Platform::kDesktop ? Fit::kYes : Fit::kNo;
}

Fit PtxFits(Arch arch, const Gpu& gpu) {
  const uint32_t sm = CurrentSm(arch.number);
  if (arch.suffix == 'a') return sm == gpu.sm ? Fit::kYes : Fit::kNo;
  if (arch.suffix == 'f') return FamilyFit(sm, gpu);
  return sm <= gpu.sm ? Fit::kYes : Fit::kNo;
}

std::string WhyNot(const Image& image, const Gpu& gpu) {
  const std::string target = ImageTarget(image);
  const uint32_t sm = CurrentSm(image.arch.number);
  const std::string wanted = CapabilityText(gpu.sm);
  if (image.kind == ImageKind::kLtoIr)
    return target + " is LTO-IR: it must be linked by nvJitLink first";
  if (image.kind != ImageKind::kCubin && image.kind != ImageKind::kPtx) {
    return fmt::format("{} is of kind {}, which this version does not know", target,
                       image.raw_kind);
  }
  if (image.arch.suffix == 'a') {
    return fmt::format("{} is for compute capability {} only, this GPU has {}", target,
                       CapabilityText(sm), wanted);
  }
  if (image.arch.suffix == 'f') {
    return fmt::format("{} covers its own family only, and {} is not in it", target,
                       GpuTarget(gpu));
  }
  if (image.kind == ImageKind::kPtx) {
    return fmt::format("{} needs compute capability {} or higher, this GPU has {}", target,
                       CapabilityText(sm), wanted);
  }
  if (sm / 10 != gpu.sm / 10) {
    return fmt::format("{} runs on compute capability {}.x, this GPU has {}", target, sm / 10,
                       wanted);
  }
  if (sm > gpu.sm) {
    return fmt::format("{} needs compute capability {} or higher of major {}, this GPU has {}",
                       target, CapabilityText(sm), sm / 10, wanted);
  }
  const bool tegra_image = PlatformOf(sm) == Platform::kTegra;
  return fmt::format("{} is {} code, this GPU is {}", target,
                     tegra_image ? "Tegra (Jetson)" : "desktop",
                     gpu.platform == Platform::kTegra ? "a Tegra part" : "a desktop part");
}

}  // namespace cuproof
