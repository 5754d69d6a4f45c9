#pragma once
#include <optional>
#include <string>
#include <vector>

#include "launch/driver_shim.h"
#include "link/search.h"

namespace cuproof::launch {

inline constexpr const char* kDriverName = "libcuda.so.1";
inline constexpr const char* kInjectName = "libcuproof_inject.so";

/// The driver that programs of this machine get.
struct DriverFile {
  std::string path;      // absolute, as the loader finds it: links are not resolved
  std::string build_id;  // hexadecimal; empty: none
  std::vector<DriverExport> exports;
};

/// What looking for it gave. Without a driver, `why_none` is a sentence.
struct DriverSearch {
  std::optional<DriverFile> driver;
  std::string why_none;
};

/// Looks where the loader would for a program without a search path of its own. An error where
/// there is a driver that the shim cannot stand in for.
Result<DriverSearch> FindDriver(const Environment& environment, FileCache& files);

/// Whether a file is the shim of a `cuproof run`.
bool IsOurShim(const DynamicObject& object);

/// Finds a library by name or path for a program that says nothing about where.
SearchResult FindLibrary(const Environment& environment, FileCache& files, const std::string& name);

/// `path` seen from the root.
std::string AbsolutePath(const std::string& path);

}  // namespace cuproof::launch
