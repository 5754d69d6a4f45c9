#include "resource/kernel_survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "bytes/expand.h"
#include "bytes/parallel.h"
#include "image/expand_image.h"
#include "target/verdict.h"

namespace cuproof {
namespace {

// Below it a file is one thread's; above it all threads share its images.
constexpr uint64_t kLargeFile = 16 << 20;
// All of a torch wheel has 150,000 kernels; a hostile zip can hold that many a member.
constexpr uint64_t kMaxKernels = 8'000'000;

// Which images are to be read, and for which GPUs.
using Choice = std::map<size_t, std::vector<uint32_t>>;

Choice EveryCubin(const FileImages& file) {
  Choice choice;
  for (size_t i = 0; i < file.images.size(); ++i) {
    if (file.images[i].kind == ImageKind::kCubin) choice.emplace(i, std::vector<uint32_t>());
  }
  return choice;
}

Choice CubinsFor(const FileImages& file, const std::vector<Gpu>& gpus, FileKernels& kernels) {
  Choice choice;
  for (const Gpu& gpu : gpus) {
    bool served = file.images.empty();
    for (const ModuleVerdict& verdict : JudgeModules(file, gpu, std::nullopt)) {
      if (verdict.outcome == Outcome::kRunsJit) ++kernels.ptx_modules;
      served |= verdict.outcome == Outcome::kRunsJit || verdict.outcome == Outcome::kRunsSass;
      if (verdict.outcome != Outcome::kRunsSass || verdict.image < 0) continue;
      auto& sms = choice[static_cast<size_t>(verdict.image)];
      if (std::find(sms.begin(), sms.end(), gpu.sm) == sms.end()) sms.push_back(gpu.sm);
    }
    if (!served) kernels.nothing_for.insert(gpu.sm);
  }
  return choice;
}

class Surveyor {
 public:
  Surveyor(const Inventory& inventory, const SurveyOptions& options)
      : inventory_(inventory), options_(options) {
    survey_.roots = inventory.roots;
    survey_.problems = inventory.problems;
    survey_.names = std::make_shared<KernelNames>();
  }

  Survey Run() {
    // Units come largest first.
    size_t large = 0;
    while (large < inventory_.units.size() && inventory_.units[large].size >= kLargeFile) ++large;
    for (size_t i = 0; i < large; ++i) ReadUnit(inventory_.units[i], options_.threads);
    ParallelFor(inventory_.units.size() - large, options_.threads,
                [&](size_t i) { ReadUnit(inventory_.units[large + i], 1); });
    std::sort(survey_.files.begin(), survey_.files.end(),
              [](const FileKernels& a, const FileKernels& b) {
                return std::tie(a.root, a.path) < std::tie(b.root, b.path);
              });
    return std::move(survey_);
  }

 private:
  void ReadUnit(const Unit& unit, unsigned threads) {
    const auto opened = OpenUnit(unit);
    uint64_t told = 0;
    if (!opened) {
      AddProblem(opened.error(), unit);
    } else {
      told = ReadFile(**opened, unit, threads);
      if ((*opened)->changed()) {
        AddProblem({ErrorCode::kNotReadable, "the file got shorter while it was read: do it again",
                    "", std::nullopt},
                   unit);
      }
    }
    options_.on_unit_done(unit.size - std::min(told, unit.size));
  }

  // The bytes that on_bytes was told.
  uint64_t ReadFile(const UnitBytes& opened, const Unit& unit, unsigned threads) {
    const ByteView bytes = opened.bytes();
    FileImages images = ListImages(bytes);
    for (const Error& damage : images.host.damage) AddProblem(damage, unit);
    for (const Error& damage : images.damage) AddProblem(damage, unit);
    if (images.images.empty() && !unit.named) return 0;
    FileKernels file;
    file.root = unit.root;
    file.path = unit.shown;
    const Choice choice =
        options_.gpus.empty() ? EveryCubin(images) : CubinsFor(images, options_.gpus, file);
    const uint64_t told = ReadCubins(opened, unit, threads, choice, images, file);
    if (file.kernels.empty() && file.ptx_modules == 0 && !unit.named) return told;
    for (const Image& image : images.images) {
      if (image.kind == ImageKind::kCubin) file.archs.insert(image.arch);
      file.ptx_images += image.kind == ImageKind::kPtx;
    }
    const std::lock_guard lock(mutex_);
    survey_.files.push_back(std::move(file));
    return told;
  }

  uint64_t ReadCubins(const UnitBytes& opened, const Unit& unit, unsigned threads,
                      const Choice& choice, FileImages& images, FileKernels& file) {
    const ByteView bytes = opened.bytes();
    std::vector<size_t> order;
    for (const auto& [image, gpus] : choice) order.push_back(image);
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return images.images[a].raw_size > images.images[b].raw_size;
    });
    ExpansionBudget budget(bytes.size());
    std::vector<std::vector<KernelRow>> rows(order.size());
    std::atomic<uint64_t> told = 0;
    ParallelFor(order.size(), threads, [&](size_t i) {
      Image& image = images.images[order[i]];
      if (Expandable(image) && budget.Take(image)) {
        if (auto read = ReadImage(bytes, image)) {
          TellDamage(*read, image, unit);
          rows[i] = Keep(std::move(*read), image.arch, choice.at(order[i]), file);
        }
      }
      told += image.stored_size;
      options_.on_bytes(image.stored_size);
      opened.Forget(bytes.Clamp(image.payload, image.stored_size));
      if (image.damage) AddProblem(*image.damage, unit);
    });
    // In file order.
    std::vector<size_t> places(order.size());
    for (size_t i = 0; i < places.size(); ++i) places[i] = i;
    std::sort(places.begin(), places.end(),
              [&](size_t a, size_t b) { return order[a] < order[b]; });
    file.cubins = static_cast<uint32_t>(order.size());
    for (const size_t place : places) {
      std::move(rows[place].begin(), rows[place].end(), std::back_inserter(file.kernels));
      std::vector<KernelRow>().swap(rows[place]);
    }
    return told;
  }

  static std::optional<std::vector<KernelResources>> ReadImage(ByteView bytes, Image& image) {
    const ByteView stored = bytes.Clamp(image.payload, image.stored_size);
    Buffer buffer;
    ByteView raw = stored;
    if (image.compression != Compression::kNone) {
      auto expanded = Expand(image.compression, stored, image.raw_size);
      if (!expanded) {
        SetDamage(expanded.error(), image);
        return std::nullopt;
      }
      buffer = std::move(*expanded);
      raw = buffer.view();
    }
    auto kernels = ReadKernelResources(raw);
    if (!kernels) {
      SetDamage(kernels.error(), image);
      return std::nullopt;
    }
    return std::move(*kernels);
  }

  // One line an image: a damaged one can have 65,535 kernels.
  void TellDamage(const std::vector<KernelResources>& kernels, const Image& image,
                  const Unit& unit) {
    const auto damaged = [](const KernelResources& kernel) { return kernel.damaged; };
    const auto first = std::find_if(kernels.begin(), kernels.end(), damaged);
    if (first == kernels.end()) return;
    const auto count = std::count_if(kernels.begin(), kernels.end(), damaged);
    AddProblem({ErrorCode::kBadSize,
                fmt::format("attributes of {} ({}, sm_{}) are damaged or without their code: the "
                            "numbers that they hold are not known",
                            count == 1 ? "a kernel" : fmt::format("{} kernels", count), first->name,
                            image.arch.number),
                "", image.offset},
               unit);
  }

  std::vector<KernelRow> Keep(std::vector<KernelResources> kernels, Arch arch,
                              const std::vector<uint32_t>& gpus, FileKernels& file) {
    std::vector<KernelRow> rows;
    const std::lock_guard lock(mutex_);
    for (KernelResources& kernel : kernels) {
      file.device_functions += !kernel.is_entry;
      if (!kernel.is_entry && !options_.device_functions) continue;
      const auto [name, wanted] = survey_.names->Keep(kernel.name, options_.wanted);
      file.other_kernels += !wanted && kernel.is_entry;
      if (!wanted) continue;
      if (kept_ == kMaxKernels) {
        Stop();
        break;
      }
      ++kept_;
      std::string().swap(kernel.name);
      KernelRow& row = rows.emplace_back();
      row.name = name;
      row.arch = arch;
      row.gpus = gpus;
      row.resources = std::move(kernel);
    }
    return rows;
  }

  // Once; under the lock.
  void Stop() {
    if (stopped_) return;
    stopped_ = true;
    survey_.problems.push_back({ErrorCode::kTooLarge,
                                fmt::format("more than {} kernels: the rest is left out; name "
                                            "fewer files, or --gpu",
                                            kMaxKernels),
                                "", std::nullopt});
  }

  void AddProblem(Error error, const Unit& unit) {
    if (error.file.empty()) error.file = unit.shown;
    const std::lock_guard lock(mutex_);
    survey_.problems.push_back(std::move(error));
  }

  const Inventory& inventory_;
  const SurveyOptions& options_;
  std::mutex mutex_;
  Survey survey_;
  uint64_t kept_ = 0;
  bool stopped_ = false;
};

}  // namespace

std::pair<const std::string*, bool> KernelNames::Keep(
    std::string_view name, const std::function<bool(const std::string&)>& wanted) {
  const auto [found, added] = names_.try_emplace(std::string(name), false);
  if (added) found->second = wanted(found->first);
  return {&found->first, found->second};
}

Survey SurveyKernels(const Inventory& inventory, const SurveyOptions& options) {
  return Surveyor(inventory, options).Run();
}

}  // namespace cuproof
