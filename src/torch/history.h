#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/result.h"
#include "bytes/view.h"
#include "symbol/string_abi.h"

namespace cuproof {

/// A build of torch whose libraries were read (data/torch_releases.tsv).
struct TorchRelease {
  uint8_t major = 0;
  uint8_t minor = 0;
  uint8_t patch = 0;
  StringAbi abi = StringAbi::kNone;  // kOld or kNew, that of the build on the Python index
  uint8_t cuda_major = 0;
  uint8_t cuda_minor = 0;

  std::string Name() const;  // "2.7.1"
};

/// What data/torch_symbols.bin knows of a name.
struct TorchSymbol {
  /// The ABI that the name belongs to; kNone where both spell it alike.
  StringAbi abi = StringAbi::kNone;
  uint8_t libraries = 0;  // bits: libc10, libc10_cuda, libtorch_cpu, libtorch_cuda, libtorch_python
  uint32_t releases = 0;  // bits, in the order of TorchHistory::releases

  bool In(size_t release, StringAbi build) const {
    return (releases >> release & 1) != 0 && (abi == StringAbi::kNone || abi == build);
  }
};

/// Which torch releases export which names: fingerprints of 40 bits, so a foreign name is taken for
/// one of torch's once in 10 million. Nothing is read before it is asked for.
class TorchHistory {
 public:
  /// Checks the header and sizes; `bytes` must outlive it.
  static Result<TorchHistory> Parse(ByteView bytes);

  /// The history that was compiled in, or that SetFile gave.
  static const TorchHistory& Get();
  /// Reads `path` in place of the compiled-in one. Call it before the first Get.
  static Result<size_t> SetFile(const std::string& path);

  std::span<const TorchRelease> releases() const { return releases_; }
  size_t size() const { return symbols_; }

  /// None: no release that we know exports it.
  std::optional<TorchSymbol> Find(std::string_view name) const;

 private:
  std::vector<TorchRelease> releases_;
  size_t symbols_ = 0;
  ByteView kinds_;   // 8 bytes each: ABI, libraries, 0, releases
  ByteView index_;   // for each block the number of its first symbol, and the number of all
  ByteView blocks_;  // for each block its keys, 4 bytes each, then their kinds, 2 bytes each
};

/// One build of torch against the names: that of the Python index, or one with the other string ABI
/// (a vendor's container), which is known from the twins of its names.
struct TorchFit {
  size_t release = 0;
  StringAbi abi = StringAbi::kNone;
  bool on_index = true;
  std::string_view missing;  // the first name that it lacks; empty: it exports all
  bool fits() const { return missing.empty(); }
};

struct TorchRange {
  std::vector<TorchFit> builds;  // each release twice, oldest first, the index's ABI first
  /// Names that no release in the history has: newer than it, or not torch's. They take no part.
  std::vector<std::string_view> unknown;
  size_t known = 0;

  /// First and last release of the index, or with `abi` of all builds of it, that export all.
  const TorchFit* First(std::optional<StringAbi> abi = std::nullopt) const;
  const TorchFit* Last(std::optional<StringAbi> abi = std::nullopt) const;
  /// The build next to the first or last that fits, and the name that it lacks; null at the end of
  /// what is known.
  const TorchFit* Below(std::optional<StringAbi> abi = std::nullopt) const;
  const TorchFit* Above(std::optional<StringAbi> abi = std::nullopt) const;
};

/// The releases that export all of `names` (what an extension wants of torch's libraries).
TorchRange RangeOf(std::span<const std::string_view> names,
                   const TorchHistory& history = TorchHistory::Get());

/// The 40 bits that stand for a name.
uint64_t TorchFingerprint(std::string_view name);

}  // namespace cuproof
