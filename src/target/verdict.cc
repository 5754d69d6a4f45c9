#include "target/verdict.h"

#include <algorithm>
#include <span>

#include "image/fatbin_format.h"
#include "target/compat.h"
#include "target/facts.h"

namespace cuproof {
namespace {

// Code that registers its containers with the CUDA runtime, which checks the driver. A file can
// also hand images to the driver by itself; then nobody refuses the driver before it sees the
// image.
bool UsesRuntime(const FileImages& file) {
  if (NeededRuntimeMajor(file.host) != 0 || file.host.registers_fatbin) return true;
  return std::any_of(file.host.ranges.begin(), file.host.ranges.end(), [](const NamedRange& range) {
    return range.name == ".nvFatBinSegment" || range.name == ".nvFatBi";
  });
}

// Among fitting images r580 takes, measured with images that tell which one ran (tests/gpu): of
// cubins the one for this very chip, `a` before plain, and the first of equals; of PTX the highest
// target, `a` before plain, and the last of equals, with no second try when that one fails.
int SuffixRank(Arch arch) { return arch.suffix == 'a' ? 2 : arch.suffix == 'f' ? 1 : 0; }

auto PreferenceOf(const Image& image) {
  return std::pair(CurrentSm(image.arch.number), SuffixRank(image.arch));
}

struct Candidates {
  int64_t sass = -1;
  int64_t ptx = -1;
  bool unknown = false;  // something might fit, but the tables cannot say
  bool lto = false;
  bool other_kind = false;  // an entry of a kind that we do not judge
};

// An entry counts by the kind in its header. That its payload looks like a cubin is told in
// listings, and does not make a driver take it.
bool OfOtherKind(const Image& image, const Module& module) {
  const bool bare = module.kind != ModuleKind::kContainer;
  switch (image.kind) {
    case ImageKind::kCubin:
      return !bare && image.raw_kind != fatbin::kKindCubin;
    case ImageKind::kPtx:
    case ImageKind::kLtoIr:
      return false;
    default:
      return true;
  }
}

Candidates FindCandidates(const FileImages& file, const Module& module, const Gpu& gpu) {
  Candidates found;
  const auto at = [&](int64_t index) -> const Image& {
    return file.images[static_cast<size_t>(index)];
  };
  for (uint32_t i = 0; i < module.image_count; ++i) {
    const int64_t index = int64_t{module.first_image} + i;
    const Image& image = at(index);
    if (OfOtherKind(image, module)) {
      found.other_kind = true;
    } else if (image.kind == ImageKind::kCubin) {
      const Fit fit = SassFits(image.arch, gpu);
      found.unknown |= fit == Fit::kUnknown;
      if (fit != Fit::kYes) continue;
      if (found.sass < 0 || PreferenceOf(image) > PreferenceOf(at(found.sass))) found.sass = index;
    } else if (image.kind == ImageKind::kPtx) {
      const Fit fit = PtxFits(image.arch, gpu);
      found.unknown |= fit == Fit::kUnknown;
      if (fit != Fit::kYes) continue;
      if (found.ptx < 0 || PreferenceOf(image) >= PreferenceOf(at(found.ptx))) found.ptx = index;
    } else {
      found.lto = true;
    }
  }
  return found;
}

// How far an image is from fitting: another major is farther than another minor, another kind of
// part farther than a suffix.
uint32_t Distance(const Image& image, const Gpu& gpu) {
  const uint32_t sm = CurrentSm(image.arch.number);
  const uint32_t major = sm / 10 > gpu.sm / 10 ? sm / 10 - gpu.sm / 10 : gpu.sm / 10 - sm / 10;
  const uint32_t minor = sm > gpu.sm ? sm - gpu.sm : gpu.sm - sm;
  return major * 1000 + minor * 4 + (image.arch.suffix ? 1 : 0) +
         (image.kind == ImageKind::kPtx ? 2 : 0);
}

int64_t NearestMiss(const FileImages& file, const Module& module, const Gpu& gpu) {
  int64_t nearest = -1;
  uint32_t best = UINT32_MAX;
  for (uint32_t i = 0; i < module.image_count; ++i) {
    const Image& image = file.images[module.first_image + i];
    const uint32_t distance = Distance(image, gpu);
    if (distance >= best) continue;
    best = distance;
    nearest = int64_t{module.first_image} + i;
  }
  return nearest;
}

ModuleVerdict Verdict(Outcome outcome, Reason reason, int64_t image) {
  ModuleVerdict verdict;
  verdict.outcome = outcome;
  verdict.reason = reason;
  verdict.image = image;
  return verdict;
}

ModuleVerdict JudgeSass(const Image& image, int64_t index, const std::optional<Driver>& driver) {
  ModuleVerdict verdict = Verdict(Outcome::kRunsSass, Reason::kNone, index);
  verdict.floor = ZstdFloor(image);
  if (image.damage) return Verdict(Outcome::kDoesNotRun, Reason::kDamaged, index);
  if (driver && !Meets(*driver, verdict.floor)) {
    verdict.outcome = Outcome::kDoesNotRun;
    verdict.reason = Reason::kZstdOldDriver;
  }
  return verdict;
}

// A `.target` that no toolkit of the tables has, in an ISA version that they do know, or one that
// came with a later ISA.
bool InvalidPair(const Image& image) {
  const auto first = FirstIsa(image.arch);
  return first ? image.version < *first : FindIsa(image.version) != nullptr;
}

ModuleVerdict JudgePtx(const Image& image, int64_t index, const std::optional<Driver>& driver) {
  if (image.damage) return Verdict(Outcome::kDoesNotRun, Reason::kDamaged, index);
  ModuleVerdict verdict = Verdict(Outcome::kRunsJit, Reason::kNone, index);
  verdict.floor = PtxFloor(image);
  Raise(verdict.floor, ZstdFloor(image));
  const auto fail = [&](Outcome outcome, Reason reason) {
    verdict.outcome = outcome;
    verdict.reason = reason;
    return verdict;
  };
  if (driver && image.version > NewestIsaOf(driver->cuda)) {
    return driver->newer_than_data ? fail(Outcome::kUnknown, Reason::kNewerThanData)
                                   : fail(Outcome::kDoesNotRun, Reason::kPtxTooNew);
  }
  if (InvalidPair(image)) return fail(Outcome::kDoesNotRun, Reason::kPtxInvalid);
  if (driver && !Meets(*driver, ZstdFloor(image))) {
    return fail(Outcome::kDoesNotRun, Reason::kZstdOldDriver);
  }
  return verdict;
}

bool Dropped(const Gpu& gpu, const std::optional<Driver>& driver) {
  const ArchFact* fact = FindArch(gpu.sm);
  if (!driver || !fact || !fact->last_driver_branch) return false;
  return driver->newer_than_data || driver->branch > fact->last_driver_branch;
}

// What outweighs the images: a driver that has dropped the GPU, or that is older than the CUDA
// major of the file. The runtime refuses such a driver; an image alone is loaded by the driver
// itself, and what it does then is not documented.
std::optional<ModuleVerdict> JudgeWhole(const FileImages& file, const Gpu& gpu,
                                        const std::optional<Driver>& driver,
                                        const DriverFloor& runtime) {
  if (Dropped(gpu, driver)) return Verdict(Outcome::kDoesNotRun, Reason::kGpuDropped, -1);
  // The loader maps what the headers say; a file that ends before is a bus error at its first use.
  if (file.kind == FileKind::kElf && !file.host.damage.empty()) {
    return Verdict(Outcome::kUnknown, Reason::kDamaged, -1);
  }
  // Which driver a major asks for that the tables do not have, nobody can say.
  if (driver && NeededRuntimeMajor(file.host) > NewestCuda().major) {
    return Verdict(Outcome::kUnknown, Reason::kNewerThanData, -1);
  }
  if (!driver || Meets(*driver, runtime)) return std::nullopt;
  ModuleVerdict verdict = Verdict(UsesRuntime(file) ? Outcome::kDoesNotRun : Outcome::kUnknown,
                                  Reason::kRuntimeTooNew, -1);
  verdict.floor = runtime;
  return verdict;
}

// Drivers up to r580 pass over entries of a kind that they do not know (tests/gpu). A later one may
// know it.
bool SkipsUnknownKinds(const std::optional<Driver>& driver) {
  constexpr Version kVerified = {13, 0};
  return driver && !driver->newer_than_data && driver->cuda <= kVerified;
}

// Without an image in reach: what the failure is.
ModuleVerdict JudgeMiss(const FileImages& file, const Module& module, const Gpu& gpu,
                        const std::optional<Driver>& driver, const Candidates& found) {
  const int64_t nearest = NearestMiss(file, module, gpu);
  const bool bare_damaged = module.kind != ModuleKind::kContainer && nearest >= 0 &&
                            file.images[static_cast<size_t>(nearest)].damage;
  if (module.damaged || bare_damaged)
    return Verdict(Outcome::kDoesNotRun, Reason::kDamaged, nearest);
  if (found.unknown) return Verdict(Outcome::kUnknown, Reason::kNewerThanData, nearest);
  if (found.other_kind && !SkipsUnknownKinds(driver)) {
    return Verdict(Outcome::kUnknown, Reason::kNewerThanData, nearest);
  }
  if (module.kind == ModuleKind::kPtx && nearest >= 0) {
    // The compiler itself refuses a text alone: first for its ISA, then for its target.
    const ModuleVerdict text = JudgePtx(file.images[static_cast<size_t>(nearest)], nearest, driver);
    if (text.outcome != Outcome::kRunsJit) return text;
    return Verdict(Outcome::kDoesNotRun, Reason::kPtxTarget, nearest);
  }
  return Verdict(Outcome::kDoesNotRun, found.lto ? Reason::kLtoOnly : Reason::kNoImage, nearest);
}

bool HasNoKernels(const FileImages& file, const Module& module) {
  if (module.image_count == 0) return false;
  for (uint32_t i = 0; i < module.image_count; ++i) {
    if (file.images[module.first_image + i].has_code.value_or(true)) return false;
  }
  return true;
}

ModuleVerdict JudgeImages(const FileImages& file, const Module& module, const Gpu& gpu,
                          const std::optional<Driver>& driver) {
  const Candidates found = FindCandidates(file, module, gpu);
  const auto image = [&](int64_t index) -> const Image& {
    return file.images[static_cast<size_t>(index)];
  };
  if (HasNoKernels(file, module)) return Verdict(Outcome::kUnknown, Reason::kNoKernels, -1);
  if (found.sass < 0 && found.ptx < 0) return JudgeMiss(file, module, gpu, driver, found);
  ModuleVerdict verdict = found.sass >= 0 ? JudgeSass(image(found.sass), found.sass, driver)
                                          : JudgePtx(image(found.ptx), found.ptx, driver);
  // The driver may or may not reach the image that fits before it trips over the damage.
  if (module.damaged && verdict.outcome != Outcome::kDoesNotRun) {
    verdict.outcome = Outcome::kUnknown;
    verdict.reason = Reason::kDamaged;
  }
  return verdict;
}

void Count(const ModuleVerdict& verdict, uint32_t module, FileVerdict& file) {
  constexpr size_t kKept = 64;
  switch (verdict.outcome) {
    case Outcome::kRunsSass:
      ++file.sass_modules;
      break;
    case Outcome::kRunsJit:
      ++file.jit_modules;
      break;
    case Outcome::kUnknown:
      if (verdict.reason != Reason::kNoKernels) ++file.unknown_modules;
      break;
    case Outcome::kDoesNotRun:
      ++file.failed_modules;
      if (verdict.reason == Reason::kPtxTooNew) file.too_new.push_back(module);
      if (file.failed.size() < kKept) file.failed.push_back(module);
      break;
  }
}

// The host code of a program loads each of its containers. A fatbin file is handed to the driver as
// one image, and r580 looks into its first container only (tests/gpu).
std::span<const Module> LoadedModules(const FileImages& file) {
  const std::span<const Module> modules(file.modules);
  if (file.kind != FileKind::kFatbin) return modules;
  const bool starts_with_it =
      !modules.empty() && modules[0].kind == ModuleKind::kContainer && modules[0].offset == 0;
  return modules.first(starts_with_it ? 1 : 0);
}

// Of two modules, the one whose verdict speaks for the file: what runs best, then what is unknown,
// then the failure that is nearest to running.
int Weight(const ModuleVerdict& verdict) {
  switch (verdict.outcome) {
    case Outcome::kRunsSass:
      return 100;
    case Outcome::kRunsJit:
      return 90;
    case Outcome::kUnknown:
      return verdict.reason == Reason::kNoKernels ? 5 : 80;
    case Outcome::kDoesNotRun:
      break;
  }
  if (verdict.reason == Reason::kLtoOnly) return 10;
  return verdict.reason == Reason::kNoImage ? 20 : 30;
}

}  // namespace

ModuleVerdict JudgeModule(const FileImages& file, const Module& module, const Gpu& gpu,
                          const std::optional<Driver>& driver) {
  const DriverFloor runtime = RuntimeFloor(file);
  if (auto whole = JudgeWhole(file, gpu, driver, runtime)) return *whole;
  ModuleVerdict verdict = JudgeImages(file, module, gpu, driver);
  Raise(verdict.floor, runtime);
  return verdict;
}

std::vector<ModuleVerdict> JudgeModules(const FileImages& file, const Gpu& gpu,
                                        const std::optional<Driver>& driver) {
  const DriverFloor runtime = RuntimeFloor(file);
  if (const auto whole = JudgeWhole(file, gpu, driver, runtime))
    return std::vector<ModuleVerdict>(file.modules.size(), *whole);
  std::vector<ModuleVerdict> verdicts;
  verdicts.reserve(file.modules.size());
  for (const Module& module : file.modules) {
    verdicts.push_back(JudgeImages(file, module, gpu, driver));
    Raise(verdicts.back().floor, runtime);
  }
  return verdicts;
}

FileVerdict JudgeFile(const FileImages& file, const Gpu& gpu, const std::optional<Driver>& driver) {
  FileVerdict verdict;
  const DriverFloor runtime = RuntimeFloor(file);
  verdict.floor = runtime;
  const auto whole = JudgeWhole(file, gpu, driver, runtime);
  int best = -1;
  DriverFloor miss_floor;
  const std::span<const Module> modules = LoadedModules(file);
  for (uint32_t i = 0; i < modules.size(); ++i) {
    const Module& module = modules[i];
    if (module.image_count == 0 && modules.size() > 1) continue;
    const ModuleVerdict one = whole ? *whole : JudgeImages(file, module, gpu, driver);
    Count(one, i, verdict);
    const bool runs = one.outcome == Outcome::kRunsSass || one.outcome == Outcome::kRunsJit;
    if (runs) Raise(verdict.floor, one.floor);
    const int weight = Weight(one);
    if (weight < best) continue;
    const bool nearer =
        weight > best || (one.image >= 0 && verdict.image >= 0 &&
                          Distance(file.images[static_cast<size_t>(one.image)], gpu) <
                              Distance(file.images[static_cast<size_t>(verdict.image)], gpu));
    if (!nearer) continue;
    best = weight;
    verdict.outcome = one.outcome;
    verdict.reason = one.reason;
    verdict.image = one.image;
    miss_floor = runs ? DriverFloor{} : one.floor;
  }
  // Of a file that does not run, what it would take.
  if (verdict.sass_modules + verdict.jit_modules == 0) Raise(verdict.floor, miss_floor);
  if (modules.empty() && !file.modules.empty()) {
    verdict.outcome = Outcome::kDoesNotRun;
    verdict.reason = Reason::kDamaged;
  }
  return verdict;
}

}  // namespace cuproof
