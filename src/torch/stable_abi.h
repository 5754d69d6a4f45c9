#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bytes/view.h"

namespace cuproof {

/// Whether an extension keeps to LibTorch's stable ABI: C functions of torch, none of its C++ ones.
struct StableAbi {
  bool stable = false;
  std::string floor;       // "2.10": the first torch that has every function of it
  std::string floor_name;  // one that it did not have before
  std::string unknown;     // a function that no torch of data/torch_shims.tsv has
};

/// `names`: the undefined symbols of a file.
StableAbi StableAbiOf(std::span<const std::string_view> names);

/// A value of TORCH_TARGET_VERSION: one byte each for major, minor and patch from the top.
struct TorchTarget {
  uint8_t major = 0;
  uint8_t minor = 0;
  uint8_t patch = 0;
  std::string Text() const;  // "2.11.0"
};
std::optional<TorchTarget> DecodeTorchTarget(uint64_t value);

/// "0x020a000000000000" for torch 2.10, what belongs into TORCH_TARGET_VERSION.
std::string TorchTargetValue(uint8_t major, uint8_t minor);

/// 0x0210 was meant as 2.10 and is 2.16: the minor as if its hexadecimal digits were decimal ones;
/// nothing where no release of that number would be meant (report R53).
std::optional<uint8_t> MeantMinor(const TorchTarget& target);

/// The newest torch of the tables: {2, 15}.
TorchTarget NewestTorch();

/// The target that x86-64 code hands to torch_library_impl, as a constant of 64 bits; nothing where
/// there is none, or more than one.
std::optional<uint64_t> TorchTargetInCode(ByteView text);

}  // namespace cuproof
