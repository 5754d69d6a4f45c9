#include <fmt/format.h>

#include "rule/rule.h"

namespace cuproof {

void RuleRuntimeDriver(const FileContext& context, std::vector<Finding>& findings) {
  const std::vector<size_t> gpus = GpusWith(context, Outcome::kDoesNotRun, Reason::kRuntimeTooNew);
  if (gpus.empty() || !context.target.driver) return;
  const DriverFloor& floor = context.file.verdicts[gpus.front()].floor;
  // The driver is wrong for every GPU, so this is an error even where no GPU was named, unless a
  // variant for an older CUDA stands beside it.
  const bool variant = RoleFor(context, gpus.front()) == Role::kVariant;
  Finding finding = NewFinding(context, "CP104", variant ? Severity::kNote : Severity::kError);
  finding.subject = "driver " + context.target.driver->text;
  const std::string driver = DriverName(*context.target.driver);
  const bool by_number = driver.find("driver ") == 0;
  const std::string has = by_number ? context.target.driver->text : driver;
  finding.message = fmt::format(
      "needs driver {} or newer ({}), the target has {}",
      floor.number.empty() ? fmt::format("r{}", floor.branch) : floor.number, floor.because, has);
  for (const std::string& name : context.file.images.host.needed) {
    if (name.find("libcudart.so.") == 0) finding.evidence.push_back("it needs " + name);
  }
  finding.evidence.emplace_back(
      "at run time: error 35 (CUDA driver version is insufficient for CUDA runtime version)");
  finding.fix =
      "update the driver, or install the build for an older CUDA; on data-center GPUs the "
      "cuda-compat "
      "package of the newer CUDA also helps";
  finding.source = "CUDA compatibility guide: minor-version compatibility";
  finding.verified_on = "by document";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
