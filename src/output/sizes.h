#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "image/file_images.h"

namespace cuproof {

enum class SizeGroup : uint8_t { kImages, kContainers, kSection, kOtherSections, kRest };

/// "images", "containers", "section", "other-sections", "rest".
const char* SizeGroupId(SizeGroup group);

/// A share of a file.
struct SizeItem {
  SizeGroup group = SizeGroup::kRest;
  std::string what;  // "sm_90", ".text": not escaped
  uint64_t bytes = 0;
  uint64_t count = 0;  // images, containers, or sections
};

/// Where the bytes of a file go. Every byte is counted once: as part of an image (its header and
/// padding included), else of a container around images, else of a named section or archive member,
/// else as rest. So the shares add up to the file's size, whatever its tables claim. Images come by
/// target; of the sections the `largest` ones come by name and the others as one.
std::vector<SizeItem> SizeBreakdown(const FileImages& file, size_t largest = 6);

}  // namespace cuproof
