#include "torch/stable_abi.h"

#include <fmt/format.h>

#include "rule/rule.h"

namespace cuproof {

void RuleStableAbi(const FileContext& context, std::vector<Finding>& findings) {
  const HostFacts& facts = context.file.host->facts;
  if (!facts.stable) return;
  Finding finding = NewFinding(context, "CP206", Severity::kNote);
  finding.message = fmt::format(
      "keeps to torch's stable ABI: it loads in torch {} and newer, one build for all of them",
      facts.stable_floor);
  if (!facts.stable_floor_name.empty()) {
    finding.evidence.push_back(
        fmt::format("{} is in torch from {} on", facts.stable_floor_name, facts.stable_floor));
  }
  if (const auto target = DecodeTorchTarget(facts.stable_target)) {
    finding.evidence.push_back(fmt::format("compiled for torch {} (TORCH_TARGET_VERSION {:#018x})",
                                           target->Text(), facts.stable_target));
    const TorchTarget newest = NewestTorch();
    const auto meant = MeantMinor(*target);
    if (meant &&
        std::tuple(target->major, target->minor) > std::tuple(newest.major, newest.minor)) {
      finding.evidence.push_back(fmt::format("the number is hexadecimal: torch {}.{} is {}",
                                             target->major, *meant,
                                             TorchTargetValue(target->major, *meant)));
    }
  }
  if (!facts.cuda_libraries.empty()) {
    finding.message += "; for CUDA it is not: it needs " + facts.cuda_libraries.front();
    finding.fix = "one build for each CUDA major, or a static CUDA runtime (-cudart static)";
  }
  finding.source = "data/torch_shims.tsv; report R55";
  finding.verified_on = "libraries of torch 2.1 to 2.15";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
