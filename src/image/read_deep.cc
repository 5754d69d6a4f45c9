#include <algorithm>
#include <array>

#include "bytes/parallel.h"
#include "image/bare_image.h"
#include "image/cubin.h"
#include "image/expand_image.h"
#include "image/file_images.h"

namespace cuproof {
namespace {

std::vector<ByteView> Gaps(ByteView bytes, const FileImages& file) {
  std::vector<ByteView> gaps;
  uint64_t at = 0;
  for (const Module& module : file.modules) {
    if (module.offset > at) gaps.push_back(bytes.Clamp(at, module.offset - at));
    at = std::max(at, module.offset + module.size);
  }
  if (at < bytes.size()) gaps.push_back(bytes.Clamp(at, bytes.size() - at));
  return gaps;
}

// A cubin that stands alone, at the start of `bytes`.
std::optional<Image> BareCubinAt(ByteView bytes, uint64_t offset) {
  const auto info = ReadCubin(bytes, false);
  if (!info || info->core_dump) return std::nullopt;
  Image image = BareImage(ImageKind::kCubin, offset, CubinExtent(bytes));
  ApplyCubin(*info, image);
  return image;
}

bool ExpandsToCubin(ByteView frame) {
  constexpr uint64_t kElfHeader = 64;
  return LooksLikeCubin(ExpandPrefix(Compression::kZstd, frame, kElfHeader).view());
}

Image FrameImage(uint64_t offset, const ZstdFrame& frame) {
  Image image = BareImage(ImageKind::kCubin, offset, frame.stored_size);
  image.compression = Compression::kZstd;
  image.raw_size = frame.raw_size;
  return image;
}

void ExpandFrame(ByteView bytes, Image& image) {
  const auto raw =
      Expand(Compression::kZstd, bytes.Clamp(image.payload, image.stored_size), image.raw_size);
  const auto info = raw ? ReadCubin(raw->view(), true) : Result<CubinInfo>(raw.error());
  if (!info) return SetDamage(info.error(), image);
  ApplyCubin(*info, image);
  image.has_code = info->has_code;
}

// Finds, in one pass, where a zstd frame or a cubin could start: a hostile file has millions of
// such places, too many to keep.
class CandidateFinder {
 public:
  explicit CandidateFinder(ByteView gap) : text_(gap.Text()) {
    for (size_t i = 0; i < kMagics.size(); ++i) next_[i] = text_.find(kMagics[i]);
  }

  /// The first place at or after `from`, which never goes back.
  std::optional<size_t> Next(size_t from) {
    for (size_t i = 0; i < kMagics.size(); ++i) {
      if (next_[i] < from) next_[i] = text_.find(kMagics[i], from);
    }
    const size_t first = *std::min_element(next_.begin(), next_.end());
    if (first == std::string_view::npos) return std::nullopt;
    return first;
  }

 private:
  static constexpr std::array<std::string_view, 3> kMagics = {
      std::string_view("\x28\xB5\x2F\xFD"),
      std::string_view("\x7F"
                       "ELF\x02\x01\x01\x33"),
      std::string_view("\x7F"
                       "ELF\x02\x01\x01\x41")};

  std::string_view text_;
  std::array<size_t, kMagics.size()> next_{};
};

class BareCubinFinder {
 public:
  explicit BareCubinFinder(FileImages& file) : file_(file) {}

  /// False when the rest is not worth a look.
  bool SearchGap(ByteView gap, uint64_t gap_offset) {
    CandidateFinder candidates(gap);
    size_t from = 0;
    while (const auto at = candidates.Next(from)) {
      if (file_.modules.size() >= kMaxModules || endless_ >= kMaxEndless) return false;
      // What lies inside an image that was taken is part of it.
      from = *at + std::max<uint64_t>(1, Take(gap.Clamp(*at, gap.size()), gap_offset + *at));
    }
    return true;
  }

 private:
  // A frame without an end costs a walk to the end of its gap, so their number is bounded: a whole
  // file has none, one that is cut short has one.
  static constexpr int kMaxEndless = 64;

  /// The size of the image at the start of `bytes`; 0: none.
  uint64_t Take(ByteView bytes, uint64_t offset) {
    if (!bytes.StartsWith("\x7F")) return TakeFrame(bytes, offset);
    auto image = BareCubinAt(bytes, offset);
    return image ? Add(ModuleKind::kCubin, std::move(*image)) : 0;
  }

  uint64_t TakeFrame(ByteView bytes, uint64_t offset) {
    if (!ExpandsToCubin(bytes)) return 0;
    const auto frame = ReadZstdFrame(bytes);
    if (frame) return Add(ModuleKind::kZstdFrame, FrameImage(offset, *frame));
    file_.damage.push_back(frame.error());
    file_.damage.back().offset = offset;
    ++endless_;
    return 0;
  }

  uint64_t Add(ModuleKind kind, Image image) {
    const uint64_t size = image.padded_size;
    AddBareImage(file_, kind, std::move(image));
    return size;
  }

  FileImages& file_;
  int endless_ = 0;
};

// One pass in file order, then the frames are expanded in parallel.
void AddBareCubins(ByteView bytes, FileImages& file, unsigned threads, ExpansionBudget& budget) {
  const size_t first = file.images.size();
  BareCubinFinder finder(file);
  for (const ByteView gap : Gaps(bytes, file)) {
    if (!finder.SearchGap(gap, static_cast<uint64_t>(gap.data() - bytes.data()))) {
      file.listing_stopped = true;
      break;
    }
  }
  ParallelFor(file.images.size() - first, threads, [&](size_t i) {
    Image& image = file.images[first + i];
    const bool frame = image.compression == Compression::kZstd;
    if (frame && budget.Take(image)) ExpandFrame(bytes, image);
  });
}

}  // namespace

void ReadModules(ByteView bytes, FileImages& file, const std::vector<uint32_t>& modules) {
  ExpansionBudget budget(bytes.size());
  for (const uint32_t index : modules) {
    const Module& module = file.modules[index];
    for (uint32_t i = 0; i < module.image_count; ++i) {
      Image& image = file.images[module.first_image + i];
      if (!image.has_code) ExpandAndCheck(bytes, budget, image);
    }
  }
}

void ReadDeep(ByteView bytes, FileImages& file, unsigned threads) {
  std::vector<size_t> order(file.images.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return file.images[a].raw_size > file.images[b].raw_size; });
  ExpansionBudget budget(bytes.size());
  ParallelFor(order.size(), threads,
              [&](size_t i) { ExpandAndCheck(bytes, budget, file.images[order[i]]); });
  const bool host = file.kind != FileKind::kCubin && file.kind != FileKind::kPtx &&
                    file.kind != FileKind::kZip && file.kind != FileKind::kCoreDump;
  if (host) AddBareCubins(bytes, file, threads, budget);
  file.deep = true;
}

}  // namespace cuproof
