#pragma once
#include <cstdint>
#include <string>

#include "image/file_images.h"
#include "target/target.h"

namespace cuproof {

/// A driver floor: the branch and, where a toolkit's release notes give it, the first full number.
struct DriverFloor {
  uint32_t branch = 0;  // 0: none known
  std::string number;   // "580.65.06"
  std::string because;  // "CUDA 13 runtime", "PTX ISA 9.1", "zstd images"
};

/// What a file asks of a driver before any image is looked at: the floor of its CUDA major.
DriverFloor RuntimeFloor(const FileImages& file);
/// What the compiler in the driver must know to take this PTX.
DriverFloor PtxFloor(const Image& image);
/// What the driver must be able to expand.
DriverFloor ZstdFloor(const Image& image);

/// Branches are compared when that is all we know of one of the two.
bool Meets(const Driver& driver, const DriverFloor& floor);

/// Makes `floor` the higher of the two; of equals it stays.
void Raise(DriverFloor& floor, const DriverFloor& other);

}  // namespace cuproof
