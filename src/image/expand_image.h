#pragma once
#include <atomic>
#include <cstdint>

#include "bytes/view.h"
#include "image/image.h"

namespace cuproof {

/// Marks an image as damaged; the place is that of its header.
void SetDamage(Error error, Image& image);

/// True when the bytes of the image can be had: it is neither damaged nor masked.
bool Expandable(const Image& image);

/// How much was expanded of one file, over all its images. The most met is 2.3 GB (cuBLASLt 13.0,
/// 541 MB); a hostile file can ask for 32,000 times its size.
class ExpansionBudget {
 public:
  explicit ExpansionBudget(uint64_t file_size);

  /// False, and the image is marked, when the file has used up its bound.
  bool Take(Image& image);

 private:
  uint64_t bound_;
  std::atomic<uint64_t> expanded_ = 0;
};

/// Expands an image of `bytes` whole and checks it against what its entry header says. Learns its
/// toolkit, its PTX version, and whether there is code in it.
void ExpandAndCheck(ByteView bytes, ExpansionBudget& budget, Image& image);

}  // namespace cuproof
