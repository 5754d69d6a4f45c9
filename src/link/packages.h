#pragma once
#include <map>
#include <string>
#include <vector>

#include "bytes/result.h"

namespace cuproof {

/// An installed distribution: its .dist-info folder, read as text.
struct Package {
  std::string name;       // "nvidia-nccl-cu12"
  std::string version;    // "2.27.5"
  std::string folder;     // …/nvidia_nccl_cu12-2.27.5.dist-info
  std::string torch_pin;  // "2.6.0" of "Requires-Dist: torch==2.6.0"; empty: any
  bool has_record = false;
  std::string installer;  // "pip", "uv", "conda", "debian"

  std::string Text() const { return name + ' ' + version; }
};

/// A shared object that the RECORDs of several packages name, with contents that differ.
struct OwnedTwice {
  std::string path;
  std::vector<size_t> owners;  // in Packages::all
  std::string winner;          // whose file lies there, by its size; empty: cannot be told
};

/// Who owns which shared object of an environment.
struct Packages {
  std::vector<Package> all;
  std::vector<OwnedTwice> owned_twice;

  /// The package that has this file; null for one that no RECORD names.
  const Package* OwnerOf(const std::string& path) const;

  std::map<std::string, size_t> owners;  // path -> index in all
};

Packages ReadPackages(const std::vector<std::string>& site_packages);

/// Lines of a RECORD (PEP 376): a path, a hash, a size.
struct RecordLine {
  std::string path;
  std::string hash;
  std::string size;
};
std::vector<RecordLine> ReadRecord(std::string_view text);

}  // namespace cuproof
