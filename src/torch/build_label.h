#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "symbol/string_abi.h"

namespace cuproof {

/// What the name of a package claims about how it was built: "+cu12torch2.6cxx11abiFALSE",
/// "+pt26cu124", "torch26-cxx11-cu126-x86_64-linux". 0 and kNone: it says nothing of that.
struct BuildLabel {
  std::string text;  // the part that was read
  StringAbi abi = StringAbi::kNone;
  uint8_t torch_major = 0;
  uint8_t torch_minor = 0;
  uint8_t cuda_major = 0;

  bool empty() const { return abi == StringAbi::kNone && torch_major == 0 && cuda_major == 0; }
  std::string Torch() const;  // "2.6"
};

/// Of a version or of a file's name: "2.7.4+cu12torch2.6cxx11abiFALSE". The name of the package
/// itself is left out: nvidia_nccl_cu12 is not built for a CUDA 12 by its name alone.
BuildLabel ReadBuildLabel(std::string_view text);

/// Of a path: the wheel in it, or a folder as the kernels hub names variants.
BuildLabel LabelOfPath(std::string_view path);

}  // namespace cuproof
