#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "link/environment.h"

namespace cuproof {

/// The torch in a site-packages folder; nothing where there is none.
std::optional<TorchInstall> FindTorch(const std::string& site_packages);

/// What torch/__init__.py loads by itself, read as text: a list of folders and name patterns below
/// nvidia/, and when. Its form changed from release to release.
struct TorchPreload {
  struct Library {
    std::string folder;   // "cublas"
    std::string pattern;  // "libcublas.so.*[0-9]"
  };
  std::vector<Library> all;     // in the order of the file: loaded when libtorch_global_deps fails
  std::vector<Library> always;  // loaded after it in any case, if `only_if_loaded` holds
  bool required = true;         // `always` ends at the first one that is not there
  std::string only_if_loaded;   // text of a path that must be loaded: "libcudart.so"
  std::vector<std::string> only_cuda;  // "12.4", …; empty: any
};

TorchPreload ReadTorchPreload(std::string_view init_py);

}  // namespace cuproof
