#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "bytes/result.h"

namespace cuproof {

/// What lies below a folder, by path; no file was opened.
struct Listing {
  std::vector<std::string> files;  // regular files
  std::vector<std::string> links;  // links to regular files, which may lie anywhere
  std::vector<Error> problems;     // folders and links that cannot be read
  std::vector<Error> skipped;      // links that lead out of the folders or nowhere
  uint64_t special = 0;            // sockets, FIFOs, devices: passed over
};

/// Lists `folder` and every folder below it. Links to folders are not followed: what they lead to
/// is met anyway where it lies inside one of `walked` (real paths), and is `skipped` where it does
/// not. Paths in the listing start with `folder` as it was given.
Listing WalkFolder(const std::string& folder, const std::vector<std::string>& walked);

/// The path without links, "." and ".."; empty if there is no such file.
std::string RealPath(const std::string& path);

}  // namespace cuproof
