#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "bytes/view.h"
#include "symbol/dynamic_object.h"
#include "symbol/string_abi.h"
#include "torch/build_label.h"

namespace cuproof {

/// What a shared object says by itself, whatever process it comes into.
struct HostFacts {
  BuildLabel label;  // what the name of its package claims

  // Which releases of torch have all that it wants of one.
  bool wants_torch = false;
  std::string torch_range;          // "torch 2.4.1 to 2.5.1"; empty: it wants nothing of torch
  std::vector<std::string> bounds;  // "torch 2.6.0 has no _ZN3c10…"
  std::vector<std::string> torch_minors;    // "2.4", "2.5": of which a build with any ABI fits
  StringAbi string_abi = StringAbi::kNone;  // of the names that it wants of torch
  std::string string_abi_name;              // one of them
  std::vector<std::string> torch_types;     // of data/torch_layouts.tsv, in names that it wants

  // LibTorch's stable ABI.
  bool stable = false;
  std::string stable_floor;       // "2.10"
  std::string stable_floor_name;  // a function that came with it
  uint64_t stable_target = 0;     // TORCH_TARGET_VERSION, where its code tells

  std::vector<std::string> cuda_libraries;  // of CUDA's, in DT_NEEDED: "libcudart.so.12"
  std::string glibc;                        // newest version that it needs: "2.34"
  std::vector<std::string> claims;          // operator libraries: "myops"
  std::vector<std::string> stub_folders;  // of its RPATH and RUNPATH: "/usr/local/cuda/lib64/stubs"
  std::vector<std::string> absolute_folders;  // of them, but those of the system and of stubs
  std::vector<std::string>
      opened;  // names of CUDA's libraries that it holds as texts, to open them
};

/// `path` is how the file is named: labels of wheels and folders are read in it.
HostFacts ReadHostFacts(const DynamicObject& object, ByteView file, const std::string& path);

}  // namespace cuproof
