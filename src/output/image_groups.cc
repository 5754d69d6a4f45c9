#include "output/image_groups.h"

#include <map>
#include <string_view>
#include <tuple>

#include "output/number.h"

namespace cuproof {
namespace {

int KindOrder(ImageKind kind) {
  switch (kind) {
    case ImageKind::kCubin:
      return 0;
    case ImageKind::kPtx:
      return 1;
    case ImageKind::kLtoIr:
      return 2;
    case ImageKind::kTileIr:
      return 3;
    case ImageKind::kUnknown:
      break;
  }
  return 4;
}

using Key =
    std::tuple<int, uint16_t, Arch, Version, Version, Compression, bool, bool, std::string_view>;

Key KeyOf(const Image& image, std::string_view section) {
  // The number says something only where the kind has no name.
  const uint16_t raw_kind = image.kind == ImageKind::kUnknown ? image.raw_kind : uint16_t{0};
  return {KindOrder(image.kind), raw_kind,          image.arch,   image.version, image.toolkit,
          image.compression,     image.relocatable, image.masked, section};
}

Image Likeness(const Image& image) {
  Image like;
  like.kind = image.kind;
  like.raw_kind = image.raw_kind;
  like.arch = image.arch;
  like.version = image.version;
  like.toolkit = image.toolkit;
  like.compression = image.compression;
  like.relocatable = image.relocatable;
  like.masked = image.masked;
  return like;
}

void Add(const Image& image, ImageGroup& group) {
  ++group.count;
  group.stored_bytes = SaturatingAdd(group.stored_bytes, image.stored_size);
  group.raw_bytes = SaturatingAdd(group.raw_bytes, image.raw_size);
  if (image.damage) ++group.damaged;
}

}  // namespace

std::vector<ImageGroup> GroupImages(const FileImages& file, BySection by_section) {
  std::map<Key, ImageGroup> groups;
  for (const Image& image : file.images) {
    const std::string_view section =
        by_section == BySection::kYes ? ImageSection(file, image) : std::string_view();
    ImageGroup& group = groups[KeyOf(image, section)];
    if (group.count == 0) {
      group.like = Likeness(image);
      group.section = section;
    }
    Add(image, group);
  }
  std::vector<ImageGroup> out;
  out.reserve(groups.size());
  for (auto& [key, group] : groups) out.push_back(std::move(group));
  return out;
}

std::string ImageVersionText(const Image& image) {
  if (image.kind == ImageKind::kCubin) {
    return image.toolkit.known() ? "CUDA " + VersionText(image.toolkit) : "";
  }
  if (!image.version.known()) return "";
  if (image.kind == ImageKind::kPtx) return "ISA " + VersionText(image.version);
  if (image.kind == ImageKind::kLtoIr) return "NVVM " + VersionText(image.version);
  return VersionText(image.version);
}

const std::string& ImageSection(const FileImages& file, const Image& image) {
  static const std::string kNone;
  return image.module < file.modules.size() ? file.modules[image.module].section : kNone;
}

}  // namespace cuproof
