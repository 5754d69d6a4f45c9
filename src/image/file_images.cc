#include "image/file_images.h"

#include <algorithm>
#include <map>

#include "image/bare_image.h"
#include "image/cubin.h"
#include "image/expand_image.h"
#include "image/fatbin.h"
#include "image/ptx.h"

namespace cuproof {
namespace {

// Notes of a cubin stand within its first kilobytes; 256 KB holds the whole of most small ones.
constexpr uint64_t kPrefix = 256 << 10;
// All targets of all toolkits are fewer than 50; a hostile file names millions.
constexpr size_t kMaxArchs = 512;

void ListBareCubin(ByteView bytes, FileImages& file) {
  Image image = BareImage(ImageKind::kCubin, 0, bytes.size());
  if (const auto info = ReadCubin(bytes, true)) {
    ApplyCubin(*info, image);
    image.has_code = info->has_code;
  } else {
    image.damage = info.error();
    if (const auto part = ReadCubin(bytes, false)) ApplyCubin(*part, image);
  }
  AddBareImage(file, ModuleKind::kCubin, std::move(image));
}

void ListBarePtx(ByteView bytes, FileImages& file) {
  Image image = BareImage(ImageKind::kPtx, 0, bytes.size());
  if (const auto header = ReadPtxHeader(bytes)) {
    image.version = header->isa;
    image.arch = header->target;
    image.damage = CheckPtxText(bytes);
  } else {
    image.damage = header.error();
  }
  AddBareImage(file, ModuleKind::kPtx, std::move(image));
}

void AddContainer(uint64_t offset, FatbinContainer container, FileImages& file) {
  Module module;
  module.offset = offset;
  module.size = container.size;
  module.first_image = static_cast<uint32_t>(file.images.size());
  module.image_count = static_cast<uint32_t>(container.images.size());
  module.section = RangeAt(file.host.ranges, offset);
  for (Image& image : container.images) {
    image.module = static_cast<uint32_t>(file.modules.size());
    file.images.push_back(std::move(image));
  }
  module.damaged = container.damage.has_value();
  file.modules.push_back(std::move(module));
  if (container.damage) file.damage.push_back(std::move(*container.damage));
}

void ListContainers(ByteView bytes, FileImages& file) {
  uint64_t at = 0;
  while (const auto found = FindFatbin(bytes, at)) {
    auto container = ReadFatbin(bytes, *found);
    if (!container) {
      at = *found + 1;
      continue;
    }
    if (file.modules.size() >= kMaxModules || file.images.size() >= kMaxImages) {
      file.listing_stopped = true;
      return;
    }
    at = *found + std::max<uint64_t>(container->size, 1);
    AddContainer(*found, std::move(*container), file);
  }
}

// A file that starts like a container is one, or was.
void CheckFirstContainer(FileImages& file) {
  if (!file.modules.empty() && file.modules[0].offset == 0) return;
  file.damage.push_back(
      {ErrorCode::kTruncated,
       "starts with the magic of a fatbin container, and no header of one follows", "", 0});
}

// Stubs that a device link leaves carry no notes, so an architecture's smallest image can be silent
// where the next larger ones speak.
Version ToolkitOf(ByteView bytes, FileImages& file, std::vector<size_t> images) {
  std::sort(images.begin(), images.end(),
            [&](size_t a, size_t b) { return file.images[a].raw_size < file.images[b].raw_size; });
  constexpr size_t kTries = 4;
  const size_t tries = std::min(kTries, images.size());
  for (size_t i = 0; i < tries; ++i) {
    Image& image = file.images[images[i * images.size() / tries]];
    const ByteView stored = bytes.Clamp(image.payload, image.stored_size);
    const Buffer prefix = ExpandPrefix(image.compression, stored, kPrefix);
    if (!LooksLikeCubin(prefix.view())) {
      SetDamage({ErrorCode::kBadCompressed, "does not expand to a cubin", "", std::nullopt}, image);
      continue;
    }
    const auto info = ReadCubin(prefix.view(), false);
    if (info && info->toolkit.known()) return info->toolkit;
  }
  return {};
}

}  // namespace

FileImages ListImages(ByteView bytes) {
  FileImages file;
  file.size = bytes.size();
  file.kind = DetectFileKind(bytes);
  switch (file.kind) {
    case FileKind::kCubin:
      ListBareCubin(bytes, file);
      break;
    case FileKind::kPtx:
      ListBarePtx(bytes, file);
      break;
    case FileKind::kZip:       // read member by member, by container/
    case FileKind::kCoreDump:  // not an image
      break;
    default:
      file.host = ReadHostObject(file.kind, bytes);
      ListContainers(bytes, file);
      if (file.kind == FileKind::kFatbin) CheckFirstContainer(file);
      break;
  }
  return file;
}

void ReadToolkits(ByteView bytes, FileImages& file) {
  std::map<Arch, std::vector<size_t>> by_arch;
  for (size_t i = 0; i < file.images.size(); ++i) {
    const Image& image = file.images[i];
    if (image.kind == ImageKind::kCubin && Expandable(image)) by_arch[image.arch].push_back(i);
  }
  size_t left = kMaxArchs;
  for (auto& [arch, images] : by_arch) {
    if (left-- == 0) break;
    const Version toolkit = ToolkitOf(bytes, file, images);
    for (const size_t i : images) {
      if (!file.images[i].toolkit.known()) file.images[i].toolkit = toolkit;
    }
  }
}

}  // namespace cuproof
