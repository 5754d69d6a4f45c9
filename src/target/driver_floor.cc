#include "target/driver_floor.h"

#include <fmt/format.h>

#include <algorithm>

#include "target/facts.h"

namespace cuproof {
namespace {

DriverFloor FloorOfBranch(uint32_t branch, std::string because) {
  DriverFloor floor;
  floor.branch = branch;
  floor.because = std::move(because);
  return floor;
}

DriverFloor FloorOf(const FirstDriver* first, std::string because) {
  if (!first) return {};
  DriverFloor floor = FloorOfBranch(first->branch, std::move(because));
  floor.number = first->number;
  return floor;
}

std::vector<uint32_t> NumberParts(const std::string& number) {
  std::vector<uint32_t> parts;
  size_t at = 0;
  while (at < number.size()) {
    parts.push_back(static_cast<uint32_t>(std::strtoul(number.c_str() + at, nullptr, 10)));
    const size_t dot = number.find('.', at);
    if (dot == std::string::npos) break;
    at = dot + 1;
  }
  return parts;
}

// Branches are compared when that is all we know of one of the two.
bool Below(const DriverFloor& a, const DriverFloor& b) {
  if (a.branch != b.branch || a.number.empty() || b.number.empty()) return a.branch < b.branch;
  return NumberParts(a.number) < NumberParts(b.number);
}

// The toolkit that a file was built with: its newest cubin's, or the one that its PTX implies.
Version NewestToolkit(const FileImages& file) {
  Version newest;
  for (const Image& image : file.images) {
    if (image.kind == ImageKind::kCubin) newest = std::max(newest, image.toolkit);
  }
  if (newest.known()) return newest;
  for (const Image& image : file.images) {
    const IsaFact* fact = image.kind == ImageKind::kPtx ? FindIsa(image.version) : nullptr;
    if (fact) newest = std::max(newest, fact->cuda);
  }
  return newest;
}

}  // namespace

bool Meets(const Driver& driver, const DriverFloor& floor) {
  if (floor.branch == 0) return true;
  if (driver.newer_than_data) return true;
  if (driver.branch != floor.branch) return driver.branch > floor.branch;
  if (driver.parts.size() < 2 || floor.number.empty()) return true;
  return driver.parts >= NumberParts(floor.number);
}

void Raise(DriverFloor& floor, const DriverFloor& other) {
  if (other.branch && (floor.branch == 0 || Below(floor, other))) floor = other;
}

DriverFloor RuntimeFloor(const FileImages& file) {
  constexpr uint16_t kFirstWithMinorCompatibility = 11;
  if (const uint16_t major = NeededRuntimeMajor(file.host)) {
    return FloorOf(MinorCompatibilityFloor(major), fmt::format("CUDA {} runtime", major));
  }
  const Version toolkit = NewestToolkit(file);
  if (toolkit.major < kFirstWithMinorCompatibility) {
    return FloorOf(FirstDriverOf(toolkit), fmt::format("CUDA {}", VersionText(toolkit)));
  }
  return FloorOf(MinorCompatibilityFloor(toolkit.major),
                 fmt::format("CUDA {} toolkit", toolkit.major));
}

DriverFloor PtxFloor(const Image& image) {
  const IsaFact* fact = FindIsa(image.version);
  if (!fact) return {};
  const std::string because = fmt::format("PTX ISA {}", VersionText(image.version));
  if (const FirstDriver* first = FirstDriverOf(fact->cuda)) return FloorOf(first, because);
  return FloorOfBranch(fact->branch, because);
}

DriverFloor ZstdFloor(const Image& image) {
  if (image.compression != Compression::kZstd || ZstdBranch() == 0) return {};
  return FloorOfBranch(ZstdBranch(), "zstd images");
}

}  // namespace cuproof
