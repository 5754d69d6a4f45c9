#pragma once
#include <cstdint>
#include <vector>

#include "bytes/view.h"
#include "image/host_object.h"
#include "image/image.h"

namespace cuproof {

/// Everything that a file (or a member of a wheel) holds for GPUs.
struct FileImages {
  FileKind kind = FileKind::kData;
  uint64_t size = 0;
  HostObject host;
  std::vector<Module> modules;
  std::vector<Image> images;  // grouped by module, in file order
  std::vector<Error> damage;  // of containers; an image's own is in Image::damage
  bool deep = false;          // every image was expanded and bare compressed cubins were looked for
  bool listing_stopped = false;  // past kMaxModules or kMaxImages: the rest was not listed
};

/// The largest library met holds 23,984 containers (cuFFT 12.0); a hostile file can hold millions.
inline constexpr size_t kMaxModules = 400'000;
inline constexpr size_t kMaxImages = 1'000'000;

/// Lists the containers and bare images of a file: headers only, nothing expanded.
FileImages ListImages(ByteView bytes);

/// Learns the toolkit of each architecture's cubins from the first bytes of its smallest one.
void ReadToolkits(ByteView bytes, FileImages& file);

/// Expands the images of some modules and checks them against their headers.
void ReadModules(ByteView bytes, FileImages& file, const std::vector<uint32_t>& modules);

/// Expands every image, checks it against its header, and looks in the rest of the file for cubins
/// that stand alone, plain or as zstd frames (cuBLASLt 13.0 holds 393 of them).
void ReadDeep(ByteView bytes, FileImages& file, unsigned threads);

}  // namespace cuproof
