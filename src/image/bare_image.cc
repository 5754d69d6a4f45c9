#include "image/bare_image.h"

namespace cuproof {

Image BareImage(ImageKind kind, uint64_t offset, uint64_t size) {
  Image image;
  image.kind = kind;
  image.offset = image.payload = offset;
  image.stored_size = image.padded_size = image.raw_size = size;
  return image;
}

void ApplyCubin(const CubinInfo& info, Image& image) {
  image.kind = ImageKind::kCubin;
  image.version = {1, info.abi};
  image.toolkit = info.toolkit;
  image.relocatable = info.relocatable;
  image.arch.number = info.sm;
  if (info.suffix_f) image.arch.suffix = 'f';
  if (info.suffix_a.value_or(false)) image.arch.suffix = 'a';
}

void AddBareImage(FileImages& file, ModuleKind kind, Image image) {
  image.module = static_cast<uint32_t>(file.modules.size());
  Module module;
  module.kind = kind;
  module.offset = image.offset;
  module.size = image.padded_size;
  module.first_image = static_cast<uint32_t>(file.images.size());
  module.image_count = 1;
  module.section = RangeAt(file.host.ranges, image.offset);
  file.images.push_back(std::move(image));
  file.modules.push_back(std::move(module));
}

}  // namespace cuproof
