// CP501: the driver refused an image. Judged by the rules of `cuproof check`, on the very bytes.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "explain/context.h"
#include "rule/rule.h"
#include "target/facts.h"

namespace cuproof::explain {
namespace {

constexpr std::array<int64_t, 7> kImageErrors = {98, 200, 209, 218, 221, 222, 223};

std::optional<Driver> DriverOf(const ErrorContext& context) {
  const int64_t version = context.process.driver_version;
  if (version < 1000 || version > 99999) return std::nullopt;
  return DriverFromCuda(
      {static_cast<uint16_t>(version / 1000), static_cast<uint16_t>(version % 1000 / 10)});
}

// What the file rules say about these bytes on this GPU.
std::vector<Finding> Judge(FileImages images, std::string name, const Gpu& gpu,
                           std::optional<Driver> driver) {
  Report report;
  report.target.gpus = {gpu};
  report.target.named = true;
  report.target.driver = std::move(driver);
  report.roots.push_back({RootKind::kFile, name, ""});
  FileReport file;
  file.path = std::move(name);
  file.images = std::move(images);
  file.verdicts.push_back(JudgeFile(file.images, gpu, report.target.driver));
  report.files.push_back(std::move(file));
  std::vector<Finding> findings;
  RunRules({report.files[0], report, report.target}, findings);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return findings;
}

const trace::ImageLoad* ImageOf(const ErrorContext& context) {
  const auto found = context.process.images.find(context.error.image);
  return found == context.process.images.end() ? nullptr : &found->second;
}

// The reasons that no image is to blame for.
bool OfTheMachine(const ErrorContext& context, Finding& finding) {
  if (context.error.result == 221) {
    finding.message = fmt::format("{} returned {}: the driver found no PTX compiler to load",
                                  CallName(context), ErrorText(221));
    finding.evidence.push_back(
        "the compiler is libnvidia-ptxjitcompiler.so.1, of the driver's own release");
    finding.fix =
        "install it with the driver, or give the container the driver capability `compute`; or add "
        "SASS for the GPU to the build, which needs no compiler";
    return true;
  }
  if (context.error.result == 223) {
    finding.message =
        fmt::format("{} returned {}: compiling PTX is switched off, and only PTX was at hand",
                    CallName(context), ErrorText(223));
    finding.fix = "unset CUDA_DISABLE_PTX_JIT and CUDA_DISABLE_JIT, or add SASS for the GPU";
    return true;
  }
  return false;
}

// Nothing that a driver takes starts like these bytes. More bytes would not help.
void AddForeign(const ErrorContext& context, const trace::ImageLoad& image, Finding& finding) {
  finding.message = fmt::format("{} returned {}: these bytes are no ELF, fatbin or PTX",
                                CallName(context), ErrorText(context.error.result));
  finding.evidence.push_back(ImageName(image));
}

bool IsNewer(const Image& image) {
  return image.arch.number != 0 && FindArch(image.arch.number) == nullptr;
}

// Targets that came after the tables: whether a GPU runs them is not known.
std::string NewerTargets(const FileImages& images) {
  std::string text;
  for (const Image& image : images.images) {
    if (!IsNewer(image)) continue;
    const std::string target = ImageTarget(image);
    if (text.find(target) == std::string::npos) text += (text.empty() ? "" : ", ") + target;
  }
  return text;
}

bool AllNewer(const FileImages& images) {
  return !images.images.empty() && std::all_of(images.images.begin(), images.images.end(), IsNewer);
}

void AddImage(const ErrorContext& context, const trace::ImageLoad& image, Finding& finding) {
  const auto gpu = GpuOf(context);
  const auto driver = DriverOf(context);
  const ImageBytes opened = OpenImage(context.run, image);
  const bool foreign =
      opened.bytes.empty() ? image.kind == "unknown" : ListImages(opened.bytes).modules.empty();
  if (foreign && (opened.bytes.empty() || !gpu)) {
    AddForeign(context, image, finding);
    return;
  }
  if (!opened.bytes.empty() && gpu) {
    FileImages images = ListImages(opened.bytes);
    ReadModules(opened.bytes, images, std::vector<uint32_t>(images.modules.empty() ? 0 : 1, 0));
    const std::string targets = TargetList(images);
    const std::string newer = NewerTargets(images);
    const FileVerdict verdict = JudgeFile(images, *gpu, driver);
    // Rules go by the numbers of targets that are known: of another one alone nothing follows.
    const bool unknown = verdict.outcome == Outcome::kUnknown || AllNewer(images);
    const std::vector<Finding> found = Judge(std::move(images), ImageName(image), *gpu, driver);
    if (!unknown && !found.empty() && found.front().severity == Severity::kError) {
      const Finding& why = found.front();
      finding.message = fmt::format("{} returned {}: {}", CallName(context),
                                    ErrorText(context.error.result), why.message);
      finding.evidence.push_back(fmt::format("{}; {} says more", ImageName(image), why.id));
      finding.evidence.insert(finding.evidence.end(), why.evidence.begin(), why.evidence.end());
      finding.fix = why.fix;
      finding.source = why.source;
      finding.verified_on = why.verified_on;
    } else if (foreign) {
      AddForeign(context, image, finding);
      return;
    } else if (unknown || !newer.empty()) {
      finding.message = fmt::format(
          "{} returned {}: {} is newer than this cuproof's tables: not known whether it runs on {}",
          CallName(context), ErrorText(context.error.result),
          newer.empty() ? "the image, the GPU or the driver" : newer, GpuText(gpu));
      finding.evidence.push_back(fmt::format("{} holds {}", ImageName(image), targets));
    } else {
      finding.message =
          fmt::format("{} returned {}; why is not known: by its headers the image runs on {}",
                      CallName(context), ErrorText(context.error.result), GpuText(gpu));
      finding.evidence.push_back(fmt::format("{} holds {}", ImageName(image), targets));
      if (context.error.result == 218)
        finding.fix = "the body of the PTX is not valid: assemble it with ptxas, which says where";
    }
  } else {
    finding.message = fmt::format("{} returned {}; what the image holds is not known",
                                  CallName(context), ErrorText(context.error.result));
    finding.evidence.push_back(opened.bytes.empty()
                                   ? fmt::format("{}: {}", ImageName(image), opened.why_not)
                                   : ImageName(image));
    finding.fix = gpu ? RecordAgain(context.run)
                      : "the program did not ask for the GPU's compute capability: check the image "
                        "with `cuproof check --gpu`";
  }
  if (!driver) finding.evidence.push_back("the driver's version is not in the record");
  if (!image.log.empty())
    finding.evidence.push_back("the driver's compiler log: " +
                               image.log.substr(0, std::min<size_t>(image.log.size(), 600)));
}

}  // namespace

std::optional<Finding> ExplainImage(const ErrorContext& context) {
  if (std::find(kImageErrors.begin(), kImageErrors.end(), context.error.result) ==
      kImageErrors.end())
    return std::nullopt;
  Finding finding = NewFinding(context, "CP501", Severity::kError);
  if (OfTheMachine(context, finding)) return finding;
  if (const trace::ImageLoad* image = ImageOf(context)) {
    finding.subject = ImageName(*image);
    AddImage(context, *image, finding);
    return finding;
  }
  // Lazy loading: the image is judged when a kernel of it is first wanted.
  const auto function = context.process.functions.find(context.error.function);
  if (function != context.process.functions.end()) {
    const auto image = context.process.images.find(function->second.image);
    if (image != context.process.images.end()) {
      finding.subject = KernelName(context.process, function->first);
      AddImage(context, image->second, finding);
      return finding;
    }
  }
  finding.message = fmt::format("{} returned {}; which image it was about is not recorded",
                                CallName(context), ErrorText(context.error.result));
  finding.fix = RecordAgain(context.run);
  return finding;
}

}  // namespace cuproof::explain
