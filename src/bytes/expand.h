#pragma once
#include <cstdint>
#include <memory>

#include "bytes/result.h"
#include "bytes/view.h"

namespace cuproof {

enum class Compression : uint8_t {
  kNone,
  kLz4Block,  // raw block, no frame header
  kLz4Frame,  // named in NVIDIA's tool, in no file that we met: listed, not expanded
  kZstd,      // one frame
};

const char* CompressionName(Compression compression);

/// Bytes that we own, not initialised before they are written.
class Buffer {
 public:
  /// An error where there is no memory: the size may be a claim of the input.
  static Result<Buffer> OfSize(uint64_t size);

  Buffer() = default;
  explicit Buffer(uint64_t size)
      : data_(std::make_unique_for_overwrite<uint8_t[]>(size)), size_(size) {}
  uint8_t* data() { return data_.get(); }
  ByteView view() const { return {data_.get(), size_}; }
  void Shrink(uint64_t size) { size_ = size < size_ ? size : size_; }

 private:
  std::unique_ptr<uint8_t[]> data_;
  uint64_t size_ = 0;
};

/// Bounds of an expansion. The largest real image met is 133.8 MB (NCCL 2.28, stored in 13.3 MB); a
/// hostile header can claim anything. A table that is mostly zero makes a small image of any ratio:
/// nvcc 13.0 stores `__device__ int table[1 << 22] = {1}` in 1.6 KB, 10,000 to 1.
inline constexpr uint64_t kMaxExpanded = 1ull << 30;
inline constexpr uint64_t kAnyRatioUpTo = 256ull << 20;
inline constexpr uint64_t kMaxRatio = 1000;

/// Expands all of `stored` and demands that the outcome is exactly raw_size bytes.
Result<Buffer> Expand(Compression compression, ByteView stored, uint64_t raw_size);

/// The first bytes of what `stored` expands to, at most `limit`. Stops early without an error where
/// the stored bytes are damaged: what came before is returned.
Buffer ExpandPrefix(Compression compression, ByteView stored, uint64_t limit);

/// The extent of the zstd frame at the start of `bytes` and the size it says it expands to.
struct ZstdFrame {
  uint64_t stored_size;
  uint64_t raw_size;
};
Result<ZstdFrame> ReadZstdFrame(ByteView bytes);

}  // namespace cuproof
