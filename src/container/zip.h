#pragma once
#include <zip.h>

#include <cstdint>
#include <memory>
#include <string>

#include "bytes/expand.h"
#include "bytes/result.h"
#include "container/unit.h"

namespace cuproof {

/// What a zip's central directory claims about a member.
struct ZipMember {
  std::string name;  // as stored, or from code page 437 where it is not UTF-8; never a path of ours
  uint64_t index = 0;
  uint64_t size = 0;    // expanded
  uint64_t stored = 0;  // in the zip
  uint16_t method = 0;  // ZIP_CM_…
  bool encrypted = false;
  bool folder = false;
};

// Bounds. In 60 wheels with CUDA code the largest member is 2.0 GB, and the highest ratio of one
// past 64 MiB is 11 (fbgemm_gpu 1.9); deflate can reach 1032.
inline constexpr uint64_t kMaxMember = 4ull << 30;
inline constexpr uint64_t kRatioCheckedAbove = 256ull << 20;
inline constexpr uint64_t kMaxMemberRatio = 200;
inline constexpr uint64_t kMaxZipEntries = 1'000'000;  // flashinfer_cubin 0.6 has 16,017

/// A zip read in place, by one thread at a time: libzip keeps state in its handle.
class Zip {
 public:
  static Result<Zip> Open(std::shared_ptr<const UnitBytes> bytes);

  uint64_t size() const { return bytes_->bytes().size(); }
  uint64_t entries() const { return entries_; }
  ZipMember Member(uint64_t index) const;
  /// The first bytes of a member, at most `limit`.
  Result<Buffer> ReadHead(const ZipMember& member, uint64_t limit) const;
  /// All of a member: exactly the bytes that the central directory promises, CRC checked.
  Result<Buffer> ReadAll(const ZipMember& member) const;

 private:
  struct Discard {
    void operator()(zip_t* zip) const { zip_discard(zip); }
  };
  Zip(std::shared_ptr<const UnitBytes> bytes, zip_t* zip, uint64_t entries)
      : bytes_(std::move(bytes)), zip_(zip), entries_(entries) {}
  Error MemberError(zip_error_t* error) const;

  std::shared_ptr<const UnitBytes> bytes_;  // outlives zip_, which points into it
  std::unique_ptr<zip_t, Discard> zip_;
  uint64_t entries_ = 0;
};

}  // namespace cuproof
