#include "diff/release.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <tuple>

#include "bytes/parallel.h"
#include "resource/measured_kernel.h"
#include "rule/host_facts.h"
#include "symbol/dynamic_object.h"

namespace cuproof {
namespace {

Cover CoverOf(const FileImages& images, const FileVerdict& verdict, const Gpu& gpu) {
  switch (verdict.outcome) {
    case Outcome::kRunsJit:
      return Cover::kJit;
    case Outcome::kDoesNotRun:
      return Cover::kNone;
    case Outcome::kUnknown:
      return Cover::kUnknown;
    case Outcome::kRunsSass:
      break;
  }
  const bool own = std::any_of(images.images.begin(), images.images.end(), [&](const Image& image) {
    return image.kind == ImageKind::kCubin && image.arch.number == gpu.sm;
  });
  return own ? Cover::kOwn : Cover::kSameMajor;
}

std::string FloorOf(const FileVerdict& verdict) {
  const bool runs = verdict.outcome == Outcome::kRunsSass || verdict.outcome == Outcome::kRunsJit;
  const DriverFloor& floor = verdict.floor;
  if (!runs || (floor.branch == 0 && floor.number.empty())) return {};
  const std::string number = floor.number.empty() ? fmt::format("r{}", floor.branch) : floor.number;
  return floor.because.empty() ? number : fmt::format("{} ({})", number, floor.because);
}

// "GLIBC_2.34" -> {"GLIBC", "2.34"}
std::pair<std::string, std::string> SplitVersion(std::string_view version) {
  const size_t at = version.rfind('_');
  if (at == std::string_view::npos) return {std::string(version), ""};
  return {std::string(version.substr(0, at)), std::string(version.substr(at + 1))};
}

// {2, 34}
std::vector<uint64_t> Parts(const std::string& version) {
  std::vector<uint64_t> parts(1);
  for (const char c : version) {
    if (c >= '0' && c <= '9') {
      parts.back() =
          std::min<uint64_t>(parts.back() * 10 + static_cast<uint64_t>(c - '0'), 1 << 30);
    } else {
      parts.push_back(0);
    }
  }
  return parts;
}

void ReadHost(ByteView bytes, ReleaseFile& file) {
  const auto object = DynamicObject::Read(bytes);
  if (!object || !object->has_dynamic) return;
  for (const std::string_view name : object->needed)
    file.needed.insert(WithoutHash(std::string(name)));
  for (const VersionNeed& need : object->needs) {
    const auto [family, number] = SplitVersion(need.name);
    // glibc is one release, whichever of its libraries has the symbol.
    std::string& newest =
        file.versions[family == "GLIBC"
                          ? family
                          : fmt::format("{} {}", WithoutHash(std::string(need.file)), family)];
    if (newest.empty() || NewerVersion(number, newest)) newest = number;
  }
  const HostFacts facts = ReadHostFacts(*object, bytes, file.path);
  file.torch = facts.stable && !facts.stable_floor.empty()
                   ? fmt::format("torch {} or newer (stable ABI)", facts.stable_floor)
                   : facts.torch_range;
}

// The damage of its frame; that of what the frames hold is the survey's to find.
std::vector<Error> ReadImages(ByteView bytes, const std::vector<Gpu>& gpus, ReleaseFile& file) {
  FileImages images = ListImages(bytes);
  std::vector<Error> damage = std::move(images.damage);
  damage.insert(damage.end(), images.host.damage.begin(), images.host.damage.end());
  if (images.images.empty()) return damage;
  ReadToolkits(bytes, images);
  for (const Image& image : images.images) {
    file.bytes[ImageTarget(image)] += image.padded_size;
    if (image.kind == ImageKind::kCubin && image.toolkit.known())
      file.toolkits.insert(VersionText(image.toolkit));
  }
  for (const Gpu& gpu : gpus) {
    // Jetson and other Tegra machines are aarch64.
    if (gpu.platform == Platform::kTegra && images.host.machine == "x86-64") {
      file.covers.push_back(Cover::kUnknown);
      file.floors.emplace_back();
      continue;
    }
    const FileVerdict verdict = JudgeFile(images, gpu, std::nullopt);
    file.covers.push_back(CoverOf(images, verdict, gpu));
    file.floors.push_back(FloorOf(verdict));
  }
  return damage;
}

// Within the release: behind the wheel's or the folder's own name.
std::string PathWithin(const Unit& unit, const Root& root) {
  const size_t member = unit.shown.find('!');
  if (member != std::string::npos && unit.shown.compare(0, member, root.argument) == 0)
    return unit.shown.substr(member + 1);
  if (root.kind != RootKind::kFile &&
      unit.shown.compare(0, root.argument.size(), root.argument) == 0) {
    const size_t start = unit.shown.find_first_not_of('/', root.argument.size());
    if (start != std::string::npos) return unit.shown.substr(start);
  }
  return unit.shown;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string KeyOfPart(std::string part, bool last) {
  for (const std::string_view tail : {".dist-info", ".data", ".libs"}) {
    const size_t at = part.find(tail);
    const size_t dash = part.find('-');
    if (at != std::string::npos && at + tail.size() == part.size() && dash < at)
      return part.substr(0, dash) + std::string(tail);
  }
  if (part.compare(0, 6, "python") == 0 && part.size() > 6 && IsDigit(part[6])) return "python";
  if (!last) return part;
  part = WithoutHash(StableFile(part));
  const size_t so = part.find(".so.");
  return so == std::string::npos ? part : part.substr(0, so + 3);
}

}  // namespace

bool NewerVersion(const std::string& a, const std::string& b) { return Parts(b) < Parts(a); }

std::string WithoutHash(const std::string& library) {
  constexpr size_t kHash = 8;
  const size_t so = library.find(".so");
  if (so == std::string::npos || so < kHash + 2) return library;
  const size_t start = so - kHash;
  const bool hex = std::all_of(library.begin() + static_cast<std::ptrdiff_t>(start),
                               library.begin() + static_cast<std::ptrdiff_t>(so),
                               [](char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); });
  const char before = library[start - 1];
  if (!hex || (before != '-' && before != '.')) return library;
  return library.substr(0, start - 1) + library.substr(so);
}

std::string MatchKey(const std::string& path) {
  std::string key;
  for (size_t start = 0; start <= path.size();) {
    const size_t end = std::min(path.find_first_of("/!", start), path.size());
    key += KeyOfPart(path.substr(start, end - start), end == path.size());
    if (end < path.size()) key += path[end];
    start = end + 1;
  }
  return key;
}

Release ReadRelease(const std::string& path, const Inventory& inventory,
                    const ReleaseOptions& options) {
  Release release;
  release.argument = path;
  release.problems = inventory.problems;
  if (!inventory.roots.empty()) release.kind = inventory.roots[0].kind;
  std::mutex mutex;
  std::map<std::string, std::string> shown;  // path within -> as the survey has it
  ParallelFor(inventory.units.size(), options.threads, [&](size_t i) {
    const Unit& unit = inventory.units[i];
    ReleaseFile file;
    file.path = PathWithin(unit, inventory.roots[unit.root]);
    file.key = MatchKey(file.path);
    file.size = unit.size;
    const auto opened = OpenUnit(unit);
    std::vector<Error> damage;
    if (opened) {
      damage = ReadImages((*opened)->bytes(), options.gpus, file);
      ReadHost((*opened)->bytes(), file);
    }
    options.on_unit_done(unit.size);
    const std::lock_guard lock(mutex);
    if (!opened) release.problems.push_back(opened.error());
    for (Error& error : damage) {
      if (error.file.empty()) error.file = unit.shown;
      release.problems.push_back(std::move(error));
    }
    if (file.bytes.empty() && file.needed.empty()) return;
    shown[file.path] = unit.shown;
    release.files.push_back(std::move(file));
  });
  std::sort(release.files.begin(), release.files.end(),
            [](const ReleaseFile& a, const ReleaseFile& b) {
              return std::tie(a.key, a.path) < std::tie(b.key, b.path);
            });
  if (!options.kernels) return release;
  SurveyOptions survey;
  survey.threads = options.threads;
  if (options.chosen_gpus) survey.gpus = options.gpus;
  release.survey = SurveyKernels(inventory, survey);
  release.problems = release.survey.problems;  // it has met the same, and damage of images
  std::map<std::string_view, const FileKernels*> kernels;
  for (const FileKernels& file : release.survey.files) kernels.emplace(file.path, &file);
  for (ReleaseFile& file : release.files) {
    const auto found = kernels.find(shown[file.path]);
    if (found != kernels.end()) file.kernels = found->second;
  }
  return release;
}

}  // namespace cuproof
