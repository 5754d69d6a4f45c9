#include <fmt/format.h>

#include <set>

#include "rule/rule.h"
#include "target/facts.h"

namespace cuproof {

void RuleZstdDriver(const FileContext& context, std::vector<Finding>& findings) {
  const std::vector<size_t> gpus = GpusWith(context, Outcome::kDoesNotRun, Reason::kZstdOldDriver);
  if (gpus.empty() || !context.target.driver) return;
  Finding finding = NewFinding(context, "CP105", FailureSeverity(context, gpus));
  finding.subject = GpuList(context, gpus);
  const std::string driver = DriverName(*context.target.driver);
  const std::string has = driver.find("driver ") == 0 ? context.target.driver->text : driver;
  finding.message = fmt::format(
      "the image for {} is compressed with zstd, which drivers before r{} cannot read; the target "
      "has {}",
      finding.subject, ZstdBranch(), has);
  std::set<int64_t> taken;
  for (const size_t gpu : gpus) taken.insert(context.file.verdicts[gpu].image);
  for (const int64_t image : taken) {
    finding.evidence.push_back(ImageEvidence(context.file.images, static_cast<size_t>(image)));
  }
  finding.evidence.emplace_back("at run time: error 200 (device kernel image is invalid)");
  finding.fix =
      fmt::format("use driver r{} or newer, or build with nvcc --compress-mode=speed (LZ4) or none",
                  ZstdBranch());
  finding.source = "reports R33 (ollama 12258, pytorch 157791)";
  finding.verified_on = "by document";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
