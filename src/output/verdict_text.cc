#include "output/verdict_text.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

namespace cuproof {
namespace {

const Image* ImageAt(const FileImages& file, int64_t index) {
  if (index < 0 || static_cast<uint64_t>(index) >= file.images.size()) return nullptr;
  return &file.images[static_cast<size_t>(index)];
}

std::vector<uint32_t> NumberParts(std::string_view number) {
  std::vector<uint32_t> parts;
  while (!number.empty()) {
    const size_t dot = number.find('.');
    const std::string_view piece = number.substr(0, dot);
    uint32_t value = 0;
    std::from_chars(piece.data(), piece.data() + piece.size(), value);
    parts.push_back(value);
    if (dot == std::string_view::npos) break;
    number.remove_prefix(dot + 1);
  }
  return parts;
}

std::vector<uint32_t> Parts(const DriverFloor& floor) {
  if (!floor.number.empty()) return NumberParts(floor.number);
  return {floor.branch};
}

}  // namespace

Tone OutcomeTone(Outcome outcome) {
  switch (outcome) {
    case Outcome::kRunsSass:
      return Tone::kGreen;
    case Outcome::kRunsJit:
      return Tone::kCyan;
    case Outcome::kDoesNotRun:
      return Tone::kBoldRed;
    case Outcome::kUnknown:
      break;
  }
  return Tone::kYellow;
}

char OutcomeLetter(Outcome outcome) {
  switch (outcome) {
    case Outcome::kRunsSass:
      return 'S';
    case Outcome::kRunsJit:
      return 'J';
    case Outcome::kDoesNotRun:
      return '-';
    case Outcome::kUnknown:
      break;
  }
  return '?';
}

std::string OutcomeWithError(Outcome outcome, Reason reason) {
  const int error = outcome == Outcome::kDoesNotRun ? ReasonError(reason) : 0;
  if (error == 0) return OutcomeText(outcome);
  return fmt::format("{} ({})", OutcomeText(outcome), error);
}

std::string ImageText(const Image& image) {
  if (image.kind != ImageKind::kPtx) return ImageTarget(image);
  return fmt::format("PTX {}, ISA {}", ImageTarget(image), VersionText(image.version));
}

std::string DecidedBy(const FileImages& file, const FileVerdict& verdict) {
  const Image* image = ImageAt(file, verdict.image);
  if (!image) return "";
  std::string text = ImageText(*image);
  if (verdict.reason == Reason::kNoImage) return "nearest: " + text;
  if (verdict.reason == Reason::kZstdOldDriver) return text + ", zstd";
  return text;
}

std::string ReasonText(Reason reason) {
  switch (reason) {
    case Reason::kNone:
    case Reason::kNoImage:
    case Reason::kPtxTooNew:
    case Reason::kRuntimeTooNew:
    case Reason::kZstdOldDriver:
      break;
    case Reason::kPtxInvalid:
      return "the ISA of this PTX does not have its target";
    case Reason::kPtxTarget:
      return "the target of this PTX is not one that this GPU serves";
    case Reason::kDamaged:
      return "the image is damaged";
    case Reason::kGpuDropped:
      return "the driver no longer serves this GPU";
    case Reason::kLtoOnly:
      return "LTO-IR only: nvJitLink must link it first";
    case Reason::kNoKernels:
      return "it holds no kernels";
    case Reason::kNewerThanData:
      return "newer than the tables of this version";
  }
  return "";
}

std::string FloorNumber(const DriverFloor& floor) {
  if (!floor.number.empty()) return floor.number;
  return floor.branch == 0 ? "" : fmt::format("r{}", floor.branch);
}

std::string FloorText(const DriverFloor& floor) {
  const std::string number = FloorNumber(floor);
  if (number.empty()) return "";
  if (floor.because.empty()) return number + " or newer";
  return fmt::format("{} or newer ({})", number, floor.because);
}

bool FloorAbove(const DriverFloor& a, const DriverFloor& b) { return Parts(a) > Parts(b); }

}  // namespace cuproof
