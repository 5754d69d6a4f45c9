#include "image/file_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>

#include "bytes/parallel.h"
#include "image/cubin.h"
#include "image/fatbin.h"
#include "image/ptx.h"

namespace cuproof {
namespace {

// Notes of a cubin stand within its first kilobytes; 256 KB holds the whole of most small ones.
constexpr uint64_t kPrefix = 256 << 10;
// All targets of all toolkits are fewer than 50; a hostile file names millions.
constexpr size_t kMaxArchs = 512;

void AddBare(FileImages& file, ModuleKind kind, Image image) {
  image.module = static_cast<uint32_t>(file.modules.size());
  Module module;
  module.kind = kind;
  module.offset = image.offset;
  module.size = image.padded_size;
  module.first_image = static_cast<uint32_t>(file.images.size());
  module.image_count = 1;
  module.section = RangeAt(file.host.ranges, image.offset);
  file.images.push_back(std::move(image));
  file.modules.push_back(std::move(module));
}

void Apply(const CubinInfo& info, Image& image) {
  image.kind = ImageKind::kCubin;
  image.version = {1, info.abi};
  image.toolkit = info.toolkit;
  image.relocatable = info.relocatable;
  image.arch.number = info.sm;
  if (info.suffix_f) image.arch.suffix = 'f';
  if (info.suffix_a.value_or(false)) image.arch.suffix = 'a';
}

Image BareImage(ImageKind kind, uint64_t offset, uint64_t size) {
  Image image;
  image.kind = kind;
  image.offset = image.payload = offset;
  image.stored_size = image.padded_size = image.raw_size = size;
  return image;
}

void ListBareCubin(ByteView bytes, FileImages& file) {
  Image image = BareImage(ImageKind::kCubin, 0, bytes.size());
  if (const auto info = ReadCubin(bytes, true)) {
    Apply(*info, image);
    image.has_code = info->has_code;
  } else {
    image.damage = info.error();
    if (const auto part = ReadCubin(bytes, false)) Apply(*part, image);
  }
  AddBare(file, ModuleKind::kCubin, std::move(image));
}

void ListBarePtx(ByteView bytes, FileImages& file) {
  Image image = BareImage(ImageKind::kPtx, 0, bytes.size());
  if (const auto header = ReadPtxHeader(bytes)) {
    image.version = header->isa;
    image.arch = header->target;
    image.damage = CheckPtxText(bytes);
  } else {
    image.damage = header.error();
  }
  AddBare(file, ModuleKind::kPtx, std::move(image));
}

void AddContainer(uint64_t offset, FatbinContainer container, FileImages& file) {
  Module module;
  module.offset = offset;
  module.size = container.size;
  module.first_image = static_cast<uint32_t>(file.images.size());
  module.image_count = static_cast<uint32_t>(container.images.size());
  module.section = RangeAt(file.host.ranges, offset);
  for (Image& image : container.images) {
    image.module = static_cast<uint32_t>(file.modules.size());
    file.images.push_back(std::move(image));
  }
  module.damaged = container.damage.has_value();
  file.modules.push_back(std::move(module));
  if (container.damage) file.damage.push_back(std::move(*container.damage));
}

void ListContainers(ByteView bytes, FileImages& file) {
  uint64_t at = 0;
  while (const auto found = FindFatbin(bytes, at)) {
    auto container = ReadFatbin(bytes, *found);
    if (!container) {
      at = *found + 1;
      continue;
    }
    if (file.modules.size() >= kMaxModules || file.images.size() >= kMaxImages) {
      file.listing_stopped = true;
      return;
    }
    at = *found + std::max<uint64_t>(container->size, 1);
    AddContainer(*found, std::move(*container), file);
  }
}

// A file that starts like a container is one, or was.
void CheckFirstContainer(FileImages& file) {
  if (!file.modules.empty() && file.modules[0].offset == 0) return;
  file.damage.push_back(
      {ErrorCode::kTruncated,
       "starts with the magic of a fatbin container, and no header of one follows", "", 0});
}

void SetDamage(Error error, Image& image) {
  image.damage = std::move(error);
  image.damage->offset = image.offset;
}

// The driver chooses by the target in the entry header, and compiles what the text says: a header
// with another ISA version than its text has no effect, one with another target does (tests/gpu).
void CheckPtx(ByteView raw, Image& image) {
  const auto header = ReadPtxHeader(raw);
  if (!header) return SetDamage(header.error(), image);
  if (auto damage = CheckPtxText(raw)) return SetDamage(std::move(*damage), image);
  image.has_code = PtxHasCode(raw);
  image.version = header->isa;
  if (header->target != image.arch) {
    SetDamage({ErrorCode::kBadSize,
               fmt::format("the entry header says compute_{}, the PTX in it has .target sm_{}",
                           ArchText(image.arch), ArchText(header->target)),
               "", std::nullopt},
              image);
  }
}

// The driver reads a plain text up to its NUL; without one it runs into the next entry.
void CheckPtxEnd(ByteView bytes, Image& image) {
  const ByteView text = bytes.Clamp(image.payload, image.stored_size);
  const auto next = bytes.Load<char>(image.payload + image.stored_size);
  if (text.empty() || text.Text().back() == '\0' || next.value_or('\0') == '\0') return;
  SetDamage({ErrorCode::kBadSize, "the PTX text has no NUL behind it", "", std::nullopt}, image);
}

// What the header of a container entry claims against what the image itself says.
void CheckAgainstHeader(ByteView raw, Image& image) {
  if (image.kind == ImageKind::kCubin) {
    const auto info = ReadCubin(raw, true);
    if (!info) return SetDamage(info.error(), image);
    if (info->toolkit.known()) image.toolkit = info->toolkit;
    image.has_code = info->has_code;
    image.relocatable |= info->relocatable;
    if (info->sm != image.arch.number) {
      SetDamage({ErrorCode::kBadSize,
                 fmt::format("the entry header says sm_{}, the cubin in it is for sm_{}",
                             image.arch.number, info->sm),
                 "", std::nullopt},
                image);
    }
  }
  if (image.kind == ImageKind::kPtx) CheckPtx(raw, image);
}

bool Expandable(const Image& image) {
  return !image.damage && !image.masked && image.compression != Compression::kLz4Frame;
}

// Expanded bytes of one file, over all its images. The most met is 2.3 GB (cuBLASLt 13.0); a
// hostile file can ask for 1,000 times its size.
constexpr uint64_t kExpansionBudget = 64ull << 30;

// A claim past the bound for one image takes nothing from the budget: it is refused anyway.
bool TakeBudget(std::atomic<uint64_t>& expanded, Image& image) {
  if (image.raw_size > kMaxExpanded) return true;
  if (expanded.fetch_add(image.raw_size) <= kExpansionBudget) return true;
  SetDamage({ErrorCode::kTooLarge,
             fmt::format("not expanded: the images before it took {} GiB, the bound for one file",
                         kExpansionBudget >> 30),
             "", std::nullopt},
            image);
  return false;
}

void ExpandAndCheck(ByteView bytes, std::atomic<uint64_t>& expanded, Image& image) {
  if (!Expandable(image) || image.kind == ImageKind::kLtoIr) return;
  if (!TakeBudget(expanded, image)) return;
  const ByteView stored = bytes.Clamp(image.payload, image.stored_size);
  if (image.compression == Compression::kNone) {
    CheckAgainstHeader(stored, image);
    if (image.kind == ImageKind::kPtx && !image.damage) CheckPtxEnd(bytes, image);
    return;
  }
  const auto raw = Expand(image.compression, stored, image.raw_size);
  if (!raw) return SetDamage(raw.error(), image);
  CheckAgainstHeader(raw->view(), image);
}

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
  Apply(*info, image);
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
  if (info) {
    Apply(*info, image);
  } else {
    image.damage = info.error();
    image.damage->offset = image.offset;
  }
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
    AddBare(file_, kind, std::move(image));
    return size;
  }

  FileImages& file_;
  int endless_ = 0;
};

// One pass in file order, then the frames are expanded in parallel.
void AddBareCubins(ByteView bytes, FileImages& file, unsigned threads,
                   std::atomic<uint64_t>& expanded) {
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
    if (frame && TakeBudget(expanded, image)) ExpandFrame(bytes, image);
  });
}

// Stubs that a device link leaves carry no notes, so an architecture's smallest image can be silent
// where the next larger ones speak.
Version ToolkitOf(ByteView bytes, FileImages& file, std::vector<size_t> images) {
  std::sort(images.begin(), images.end(),
            [&](size_t a, size_t b) { return file.images[a].raw_size < file.images[b].raw_size; });
  constexpr size_t kTries = 4;
  const size_t tries = std::min(kTries, images.size());
  for (size_t i = 0; i < tries; ++i) {
    const Image& image = file.images[images[i * images.size() / tries]];
    const ByteView stored = bytes.Clamp(image.payload, image.stored_size);
    const Buffer prefix = ExpandPrefix(image.compression, stored, kPrefix);
    const auto info = ReadCubin(prefix.view(), false);
    if (info && info->toolkit.known()) return info->toolkit;
  }
  return {};
}

}  // namespace

FileImages ListImages(ByteView bytes) {
  FileImages file;
  file.size = bytes.size();
  file.kind = DetectFileKind(bytes);
  switch (file.kind) {
    case FileKind::kCubin:
      ListBareCubin(bytes, file);
      break;
    case FileKind::kPtx:
      ListBarePtx(bytes, file);
      break;
    case FileKind::kZip:       // read member by member, by container/
    case FileKind::kCoreDump:  // not an image
      break;
    default:
      file.host = ReadHostObject(file.kind, bytes);
      ListContainers(bytes, file);
      if (file.kind == FileKind::kFatbin) CheckFirstContainer(file);
      break;
  }
  return file;
}

void ReadToolkits(ByteView bytes, FileImages& file) {
  std::map<Arch, std::vector<size_t>> by_arch;
  for (size_t i = 0; i < file.images.size(); ++i) {
    const Image& image = file.images[i];
    if (image.kind == ImageKind::kCubin && Expandable(image)) by_arch[image.arch].push_back(i);
  }
  size_t left = kMaxArchs;
  for (auto& [arch, images] : by_arch) {
    if (left-- == 0) break;
    const Version toolkit = ToolkitOf(bytes, file, images);
    for (const size_t i : images) {
      if (!file.images[i].toolkit.known()) file.images[i].toolkit = toolkit;
    }
  }
}

void ReadModules(ByteView bytes, FileImages& file, const std::vector<uint32_t>& modules) {
  std::atomic<uint64_t> expanded = 0;
  for (const uint32_t index : modules) {
    const Module& module = file.modules[index];
    for (uint32_t i = 0; i < module.image_count; ++i) {
      Image& image = file.images[module.first_image + i];
      if (!image.has_code) ExpandAndCheck(bytes, expanded, image);
    }
  }
}

void ReadDeep(ByteView bytes, FileImages& file, unsigned threads) {
  std::vector<size_t> order(file.images.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return file.images[a].raw_size > file.images[b].raw_size; });
  std::atomic<uint64_t> expanded = 0;
  ParallelFor(order.size(), threads,
              [&](size_t i) { ExpandAndCheck(bytes, expanded, file.images[order[i]]); });
  const bool host = file.kind != FileKind::kCubin && file.kind != FileKind::kPtx &&
                    file.kind != FileKind::kZip && file.kind != FileKind::kCoreDump;
  if (host) AddBareCubins(bytes, file, threads, expanded);
  file.deep = true;
}

}  // namespace cuproof
