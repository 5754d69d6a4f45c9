#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "bytes/result.h"
#include "symbol/dynamic_object.h"

// The library that stands in for the driver: SONAME libcuda.so.1, every name that the installed
// driver exports, and behind each name one jump. docs/recorder.md says why this way in was chosen.
namespace cuproof::launch {

/// A function that the driver exports.
struct DriverExport {
  std::string name;
  std::string version;  // its version node; empty for none
  bool weak = false;
};

/// The functions of a driver, sorted by name; its data is left out. An error, which names the
/// symbol, where the shim could not stand in for one: of no type, or at two versions.
Result<std::vector<DriverExport>> ReadDriverExports(const DynamicObject& driver);

/// What the shim tells the preloaded library: see trace/record.h.
struct ShimSettings {
  std::string driver;          // absolute path of the real driver
  std::string folder;          // absolute path of the run folder
  std::string inject_library;  // absolute path of the library that has cuproof_resolve
  uint64_t options = 0;        // trace::ShimOption
  uint32_t records = 0;
  uint32_t max_rings = 0;
  uint64_t event_bytes = 0;
  uint64_t image_bytes = 0;
};

/// The bytes of the shim. `exports` must be sorted by name.
Result<std::string> WriteDriverShim(const std::vector<DriverExport>& exports,
                                    const ShimSettings& settings);

}  // namespace cuproof::launch
