#include <fmt/format.h>

#include <algorithm>

#include "rule/source_rules.h"
#include "target/compat.h"
#include "target/facts.h"

namespace cuproof {
namespace {

// The list as the file writes it, with what can be built and what is wanted.
std::string ListText(const std::vector<ArchRequest>& archs, ArchSyntax syntax) {
  std::vector<std::string> parts;
  const auto add = [&](std::string part) {
    if (std::find(parts.begin(), parts.end(), part) == parts.end())
      parts.push_back(std::move(part));
  };
  for (const ArchRequest& request : archs) {
    const std::string arch = ArchText(request.arch);
    switch (syntax) {
      case ArchSyntax::kGencode:
        if (request.sass) add(fmt::format("-gencode arch=compute_{0},code=sm_{0}", arch));
        if (request.ptx) add(fmt::format("-gencode arch=compute_{0},code=compute_{0}", arch));
        break;
      case ArchSyntax::kTorchList: {
        std::string text = CapabilityText(request.arch.number);
        if (request.arch.suffix != 0) text += request.arch.suffix;
        add(request.ptx ? text + "+PTX" : text);
        break;
      }
      case ArchSyntax::kCmakeList:
        add(arch + (!request.ptx ? "-real" : !request.sass ? "-virtual" : ""));
        break;
    }
  }
  switch (syntax) {
    case ArchSyntax::kTorchList:
      return fmt::format("TORCH_CUDA_ARCH_LIST=\"{}\"", fmt::join(parts, ";"));
    case ArchSyntax::kCmakeList:
      return fmt::format("set(CMAKE_CUDA_ARCHITECTURES \"{}\")", fmt::join(parts, ";"));
    case ArchSyntax::kGencode:
      break;
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

bool Buildable(Version cuda, Arch arch) {
  // A toolkit that the table does not know is asked nothing.
  return !NvccTargets(cuda, {90, 0}) || NvccTargets(cuda, arch);
}

std::string WhenBuildable(uint32_t sm) {
  const ArchFact* fact = FindArch(sm);
  if (fact == nullptr) return "no toolkit that we know has it";
  if (fact->last_cuda.known()) {
    return fmt::format("sm_{} is in CUDA up to {}", sm, VersionText(fact->last_cuda));
  }
  return fmt::format("sm_{} is in CUDA from {} on", sm, VersionText(fact->first_cuda));
}

void CheckToolkit(const SourceContext& context, const ArchRequests& requests,
                  std::vector<Finding>& findings) {
  const Version cuda = *context.target.cuda;
  std::vector<ArchRequest> kept;
  std::vector<ArchRequest> refused;
  for (const ArchRequest& request : requests.archs) {
    (request.conditional || Buildable(cuda, request.arch) ? kept : refused).push_back(request);
  }
  if (refused.empty()) return;
  std::erase_if(kept, [&](const ArchRequest& request) { return !Buildable(cuda, request.arch); });
  Finding finding = NewSourceFinding(context, "CP701", Severity::kError);
  finding.message =
      fmt::format("asks for an architecture that nvcc of CUDA {} does not have: sm_{}",
                  VersionText(cuda), ArchText(refused.front().arch));
  for (const ArchRequest& request : refused) AddLine(context, request.line, finding);
  finding.evidence.push_back(WhenBuildable(refused.front().arch.number));
  finding.evidence.push_back(fmt::format("nvcc fatal: Unsupported gpu architecture 'compute_{}'",
                                         ArchText(refused.front().arch)));
  finding.fix = kept.empty() ? "name an architecture that it has" : ListText(kept, requests.syntax);
  finding.source = "data/nvcc_targets.tsv";
  finding.verified_on = "ptxas of each toolkit from 11.7 on";
  findings.push_back(std::move(finding));
}

bool Covers(const ArchRequest& request, const Gpu& gpu) {
  return (request.sass && SassFits(request.arch, gpu) != Fit::kNo) ||
         (request.ptx && PtxFits(request.arch, gpu) != Fit::kNo);
}

void CheckGpus(const SourceContext& context, const ArchRequests& requests,
               std::vector<Finding>& findings) {
  std::vector<const Gpu*> missing;
  for (const Gpu& gpu : context.target.gpus) {
    const bool covered =
        std::any_of(requests.archs.begin(), requests.archs.end(),
                    [&](const ArchRequest& request) { return Covers(request, gpu); });
    if (!covered) missing.push_back(&gpu);
  }
  if (missing.empty()) return;
  std::vector<ArchRequest> better = requests.archs;
  std::vector<std::string> names;
  std::vector<std::string> limits;
  for (const Gpu* gpu : missing) {
    better.push_back({{gpu->sm, 0}, false, true, 0, false});
    names.push_back(gpu->product.empty() ? GpuTarget(*gpu)
                                         : fmt::format("{} ({})", GpuTarget(*gpu), gpu->product));
    limits.push_back(WhenBuildable(gpu->sm));
  }
  std::erase_if(better, [&](const ArchRequest& request) {
    return context.target.cuda && !Buildable(*context.target.cuda, request.arch);
  });
  Finding finding = NewSourceFinding(context, "CP701", Severity::kWarning);
  finding.message = fmt::format("none of its architectures runs on {}", fmt::join(names, ", "));
  for (const ArchRequest& request : requests.archs) AddLine(context, request.line, finding);
  finding.evidence.insert(finding.evidence.end(), limits.begin(), limits.end());
  finding.fix = ListText(better, requests.syntax);
  finding.source = "CUDA programming guide: binary compatibility, family-specific features";
  finding.verified_on = "H200 r580.159 for sm_90, other GPUs by document";
  findings.push_back(std::move(finding));
}

}  // namespace

void RuleSourceArchs(const SourceContext& context, std::vector<Finding>& findings) {
  const ArchRequests requests = ReadArchRequests(context.lines);
  if (requests.archs.empty()) return;
  if (context.target.cuda) CheckToolkit(context, requests, findings);
  if (context.target.named && !requests.open) CheckGpus(context, requests, findings);
}

}  // namespace cuproof
