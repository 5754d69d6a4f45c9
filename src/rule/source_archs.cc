#include <fmt/format.h>

#include <algorithm>

#include "rule/source_rules.h"
#include "target/compat.h"
#include "target/facts.h"

namespace cuproof {
namespace {

// Whether the list is a target's property, and not the variable that targets take theirs from.
bool IsProperty(const SourceContext& context, const std::vector<ArchRequest>& archs) {
  const auto first = std::find_if(archs.begin(), archs.end(),
                                  [](const ArchRequest& request) { return request.line != 0; });
  return first != archs.end() &&
         LineText(context.file.text, first->line).find("CMAKE_CUDA_ARCHITECTURES") ==
             std::string_view::npos;
}

// The list as the file writes it, with what can be built and what is wanted.
std::string ListText(const SourceContext& context, const std::vector<ArchRequest>& archs,
                     ArchSyntax syntax) {
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
  const bool toml = context.file.kind == SourceKind::kToml;
  switch (syntax) {
    case ArchSyntax::kTorchList:
      return fmt::format("TORCH_CUDA_ARCH_LIST{}\"{}\"", toml ? " = " : "=", fmt::join(parts, ";"));
    case ArchSyntax::kCmakeList:
      if (IsProperty(context, archs)) {
        return fmt::format("CUDA_ARCHITECTURES \"{}\"", fmt::join(parts, ";"));
      }
      return toml ? fmt::format("CMAKE_CUDA_ARCHITECTURES = \"{}\"", fmt::join(parts, ";"))
                  : fmt::format("set(CMAKE_CUDA_ARCHITECTURES \"{}\")", fmt::join(parts, ";"));
    case ArchSyntax::kGencode:
      break;
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

// Requests that one list makes: on one line, or on lines one below the other.
std::vector<std::vector<ArchRequest>> Lists(const std::vector<ArchRequest>& requests) {
  std::vector<std::vector<ArchRequest>> lists;
  for (const ArchRequest& request : requests) {
    const bool goes_on = !lists.empty() && lists.back().back().syntax == request.syntax &&
                         lists.back().back().conditional == request.conditional &&
                         request.line - lists.back().back().line <= 1;
    if (!goes_on) lists.emplace_back();
    lists.back().push_back(request);
  }
  return lists;
}

// How the request stands on its line.
std::string MatchOf(const ArchRequest& request) {
  if (request.syntax == ArchSyntax::kTorchList) return CapabilityText(request.arch.number);
  const std::string arch = ArchText(request.arch);
  if (request.syntax == ArchSyntax::kCmakeList) return arch;
  return (request.sass ? "sm_" : "compute_") + arch;
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

// "sm_60 (line 2), sm_70 (line 4)"; of one alone its name.
std::string Named(const std::vector<ArchRequest>& refused) {
  constexpr size_t kMostNamed = 12;
  std::vector<std::string> names;
  for (const ArchRequest& request : refused) {
    std::string name = fmt::format("sm_{} (line {})", ArchText(request.arch), request.line);
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  if (names.size() == 1) return fmt::format("sm_{}", ArchText(refused.front().arch));
  if (names.size() <= kMostNamed) return fmt::format("{}", fmt::join(names, ", "));
  const size_t more = names.size() - kMostNamed;
  names.resize(kMostNamed);
  return fmt::format("{} and {} more", fmt::join(names, ", "), more);
}

void CheckToolkit(const SourceContext& context, const ArchRequests& requests,
                  std::vector<Finding>& findings) {
  const Version cuda = *context.target.cuda;
  std::vector<ArchRequest> refused;
  std::vector<std::string> fixes;  // of each list that has one
  std::vector<uint32_t> lines;
  for (std::vector<ArchRequest>& list : Lists(requests.archs)) {
    const auto first = std::stable_partition(
        list.begin(), list.end(),
        [&](const ArchRequest& request) { return Buildable(cuda, request.arch); });
    if (first == list.end() || list.front().conditional) continue;
    refused.insert(refused.end(), first, list.end());
    lines.push_back(first->line);
    const ArchSyntax syntax = first->syntax;
    list.erase(first, list.end());
    fixes.push_back(list.empty() ? "name an architecture that it has"
                                 : ListText(context, list, syntax));
  }
  if (refused.empty()) return;
  Finding finding = NewSourceFinding(context, "CP701", Severity::kError);
  const std::string named = Named(refused);
  const bool one = named.find('(') == std::string::npos;
  finding.message =
      fmt::format("asks for {} that nvcc of CUDA {} does not have: {}",
                  one ? "an architecture" : "architectures", VersionText(cuda), named);
  for (const ArchRequest& request : refused) {
    AddLine(context, request.line, MatchOf(request), finding);
  }
  for (const ArchRequest& request : refused) {
    std::string when = WhenBuildable(request.arch.number);
    auto& evidence = finding.evidence;
    if (std::find(evidence.begin(), evidence.end(), when) == evidence.end()) {
      evidence.push_back(std::move(when));
    }
  }
  finding.evidence.push_back(fmt::format("nvcc fatal: Unsupported gpu architecture 'compute_{}'",
                                         ArchText(refused.front().arch)));
  constexpr size_t kMostFixes = 5;
  for (size_t i = 0; i < fixes.size() && i < kMostFixes; ++i) {
    if (i > 0) finding.fix += "; ";
    finding.fix += fixes.size() == 1 ? fixes[i] : fmt::format("line {}: {}", lines[i], fixes[i]);
  }
  finding.source = "data/nvcc_targets.tsv";
  finding.verified_on = "ptxas of each toolkit from 11.7 on";
  findings.push_back(std::move(finding));
}

bool Covers(const ArchRequest& request, const Gpu& gpu) {
  return (request.sass && SassFits(request.arch, gpu) != Fit::kNo) ||
         (request.ptx && PtxFits(request.arch, gpu) != Fit::kNo);
}

// The first that is not one of a choice; else the first.
std::vector<ArchRequest> ListToMend(const std::vector<ArchRequest>& requests) {
  const auto lists = Lists(requests);
  const auto plain = std::find_if(lists.begin(), lists.end(),
                                  [](const auto& list) { return !list.front().conditional; });
  return plain == lists.end() ? lists.front() : *plain;
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
  const auto& cuda = context.target.cuda;
  const auto can = [&](Arch arch) { return !cuda || Buildable(*cuda, arch); };
  std::vector<ArchRequest> better = ListToMend(requests.archs);
  const ArchSyntax syntax = better.front().syntax;
  std::erase_if(better, [&](const ArchRequest& request) { return !can(request.arch); });
  std::vector<std::string> names;
  std::vector<std::string> limits;
  Version needed;  // of CUDA, for those that this one cannot build for
  for (const Gpu* gpu : missing) {
    names.push_back(gpu->product.empty() ? GpuTarget(*gpu)
                                         : fmt::format("{} ({})", GpuTarget(*gpu), gpu->product));
    limits.push_back(WhenBuildable(gpu->sm));
    const ArchFact* fact = FindArch(gpu->sm);
    if (can({gpu->sm, 0})) {
      better.push_back({{gpu->sm, 0}, false, true, 0, false, syntax});
    } else if (fact != nullptr && needed < fact->first_cuda && !fact->last_cuda.known()) {
      needed = fact->first_cuda;
    }
  }
  // Of a choice others may be made.
  const bool chosen = std::all_of(requests.archs.begin(), requests.archs.end(),
                                  [](const ArchRequest& request) { return request.conditional; });
  Finding finding =
      NewSourceFinding(context, "CP701", chosen ? Severity::kNote : Severity::kWarning);
  finding.message = fmt::format("none of its architectures runs on {}", fmt::join(names, ", "));
  for (const ArchRequest& request : requests.archs) {
    AddLine(context, request.line, MatchOf(request), finding);
  }
  finding.evidence.insert(finding.evidence.end(), limits.begin(), limits.end());
  finding.fix = better.empty() ? "" : ListText(context, better, syntax);
  if (needed.known()) {
    finding.message += fmt::format(", and CUDA {} cannot build for it", VersionText(*cuda));
    finding.fix = fmt::format("build with CUDA {} or newer", VersionText(needed));
    // PTX of a plain architecture is what a later GPU compiles.
    const auto newest = std::max_element(
        better.begin(), better.end(),
        [](const ArchRequest& a, const ArchRequest& b) { return a.arch.number < b.arch.number; });
    if (newest != better.end()) {
      if (newest->arch.suffix == 0) {
        newest->ptx = true;
      } else {
        better.push_back({{newest->arch.number, 0}, true, false, 0, false, syntax});
      }
      finding.fix += ", or keep PTX: " + ListText(context, better, syntax);
    }
  }
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
