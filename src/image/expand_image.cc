#include "image/expand_image.h"

#include <fmt/format.h>

#include <algorithm>

#include "image/cubin.h"
#include "image/ptx.h"

namespace cuproof {
namespace {

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

}  // namespace

void SetDamage(Error error, Image& image) {
  image.damage = std::move(error);
  image.damage->offset = image.offset;
}

bool Expandable(const Image& image) {
  return !image.damage && !image.masked && image.compression != Compression::kLz4Frame;
}

ExpansionBudget::ExpansionBudget(uint64_t file_size) {
  constexpr uint64_t kLeast = 4ull << 30;
  constexpr uint64_t kMost = 64ull << 30;
  bound_ = std::min(kMost, kLeast + kMaxRatio * std::min(file_size, kMost));
}

// A claim past the bound for one image takes nothing from the budget: it is refused anyway.
bool ExpansionBudget::Take(Image& image) {
  if (image.raw_size > kMaxExpanded) return true;
  if (expanded_.fetch_add(image.raw_size) <= bound_) return true;
  SetDamage({ErrorCode::kTooLarge,
             fmt::format("not expanded: the images before it took {} MB, the bound for this file",
                         bound_ / 1'000'000),
             "", std::nullopt},
            image);
  return false;
}

void ExpandAndCheck(ByteView bytes, ExpansionBudget& budget, Image& image) {
  if (!Expandable(image) || image.kind == ImageKind::kLtoIr) return;
  if (!budget.Take(image)) return;
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

}  // namespace cuproof
