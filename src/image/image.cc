#include "image/image.h"

#include <fmt/format.h>

namespace cuproof {

const char* ImageKindName(ImageKind kind) {
  switch (kind) {
    case ImageKind::kPtx:
      return "ptx";
    case ImageKind::kCubin:
      return "cubin";
    case ImageKind::kLtoIr:
      return "lto-ir";
    case ImageKind::kTileIr:
      return "tile-ir";
    case ImageKind::kUnknown:
      break;
  }
  return "unknown";
}

std::string ArchText(Arch arch) {
  std::string text = fmt::format("{}", arch.number);
  if (arch.suffix) text += arch.suffix;
  return text;
}

std::string VersionText(Version version) {
  return version.known() ? fmt::format("{}.{}", version.major, version.minor) : "unknown";
}

std::string ImageTarget(const Image& image) {
  switch (image.kind) {
    case ImageKind::kCubin:
      return "sm_" + ArchText(image.arch);
    case ImageKind::kPtx:
      return "compute_" + ArchText(image.arch);
    case ImageKind::kLtoIr:
      return "lto_" + ArchText(image.arch);
    case ImageKind::kTileIr:
    case ImageKind::kUnknown:
      break;
  }
  return "arch_" + ArchText(image.arch);
}

}  // namespace cuproof
