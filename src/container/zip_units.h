#pragma once
#include <string>

#include "container/unit.h"

namespace cuproof {

/// A zip on disk to look into, and the root that it belongs to.
struct ZipOnDisk {
  uint32_t root = 0;
  std::string file;
  std::string shown;
};

struct ZipFacts {
  bool wheel = false;
  std::string name;  // "torch 2.6.0" for a wheel
};

/// Zips within zips are followed this deep; the zip on disk is the first.
inline constexpr size_t kMaxZipDepth = 3;

/// Adds the members that are worth reading to inventory.units, those of zips within the zip too.
/// What cannot be read goes to inventory.problems, the zip itself included.
ZipFacts TakeZip(const ZipOnDisk& zip, Inventory& inventory);

}  // namespace cuproof
