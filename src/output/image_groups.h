#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "image/file_images.h"

namespace cuproof {

/// Images of one file that are alike but for their place and size.
struct ImageGroup {
  Image like;           // kind, arch, version, toolkit, compression, relocatable, masked: of all
  std::string section;  // only when grouped by section
  uint64_t count = 0;
  uint64_t stored_bytes = 0;
  uint64_t raw_bytes = 0;
  uint64_t damaged = 0;
};

enum class BySection : uint8_t { kNo, kYes };

/// Groups by kind, target, version, toolkit, compression and, if wanted, section; in that order.
/// Native code first, then PTX, then what is linked or translated at run time.
std::vector<ImageGroup> GroupImages(const FileImages& file, BySection by_section);

/// "ISA 9.1", "CUDA 13.0", "NVVM 2.0": the version that matters for the kind; empty: not known.
std::string ImageVersionText(const Image& image);

/// The section that holds an image; for a file without sections an empty name.
const std::string& ImageSection(const FileImages& file, const Image& image);

}  // namespace cuproof
