#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "rule/rule.h"
#include "target/facts.h"

namespace cuproof {
namespace {

std::string FixFor(const std::vector<std::string>& targets, const std::vector<std::string>& flags,
                   const DriverFloor& floor) {
  constexpr size_t kFew = 3;
  std::string fix = fmt::format("add SASS for {}", fmt::join(targets, ", "));
  if (flags.size() <= kFew) fix += fmt::format(" ({})", fmt::join(flags, " "));
  if (floor.branch) {
    fix += fmt::format(", or use driver {} or newer",
                       floor.number.empty() ? fmt::format("r{}", floor.branch) : floor.number);
  }
  return fix;
}

}  // namespace

void RulePtxDriver(const FileContext& context, std::vector<Finding>& findings) {
  const std::vector<size_t> gpus = GpusWith(context, Outcome::kDoesNotRun, Reason::kPtxTooNew);
  if (gpus.empty() || !context.target.driver) return;
  const FileImages& images = context.file.images;
  const Driver& driver = *context.target.driver;
  Finding finding = NewFinding(context, "CP102", FailureSeverity(context, gpus));
  finding.subject = GpuList(context, gpus);
  std::map<size_t, std::vector<size_t>> by_image;
  std::set<Version> versions;
  DriverFloor floor;
  std::vector<std::string> targets;
  std::vector<std::string> flags;
  for (const size_t index : gpus) {
    const FileVerdict& verdict = context.file.verdicts[index];
    const Gpu& gpu = context.target.gpus[index];
    const auto image = static_cast<size_t>(verdict.image);
    by_image[image].push_back(index);
    versions.insert(images.images[image].version);
    Raise(floor, verdict.floor);
    targets.push_back(GpuTarget(gpu));
    flags.push_back(fmt::format("-gencode arch=compute_{0},code=sm_{0}", gpu.sm));
  }
  std::vector<std::string> isas;
  isas.reserve(versions.size());
  for (const Version& version : versions) isas.push_back(VersionText(version));
  finding.message = fmt::format(
      "only PTX fits {}, and its ISA {} is newer than {}, which takes {} at most", finding.subject,
      fmt::join(isas, " or "), DriverName(driver), VersionText(NewestIsaOf(driver.cuda)));
  for (const auto& [image, served] : by_image) {
    const std::string what = ImageEvidence(images, image);
    finding.evidence.push_back(by_image.size() == 1 ? "it would compile " + what
                                                    : fmt::format("for {} it would compile {}",
                                                                  GpuList(context, served), what));
  }
  finding.evidence.push_back("it holds " + TargetList(images));
  finding.evidence.emplace_back(
      "at run time: error 222 (the provided PTX was compiled with an unsupported toolchain)");
  finding.fix = FixFor(targets, flags, floor);
  finding.source = "CUDA compatibility guide: minor-version compatibility does not cover PTX";
  finding.verified_on =
      "H200 r580.159: PTX 9.0 loads, 9.1 and newer give 222; other GPUs and drivers by document";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
