#include "rule/rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cuproof {

const char* SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      break;
  }
  return "note";
}

void RunRules(const FileContext& context, std::vector<Finding>& findings) {
  using Rule = void (*)(const FileContext&, std::vector<Finding>&);
  constexpr Rule kRules[] = {RuleNoImage,     RulePtxDriver,  RuleJit,           RuleRuntimeDriver,
                             RuleZstdDriver,  RulePartial,    RuleDamage,        RuleDeclaredArch,
                             RuleUnusedBytes, RuleUnknown,    RuleLtoOnly,       RuleHostOnly,
                             RulePtxInvalid,  RuleGpuDropped, RuleTegraInDesktop};
  for (const Rule rule : kRules) rule(context, findings);
  RunHostRules(context, findings);
}

void RunHostRules(const FileContext& context, std::vector<Finding>& findings) {
  if (!context.file.host) return;
  using Rule = void (*)(const FileContext&, std::vector<Finding>&);
  constexpr Rule kRules[] = {RuleUndefinedSymbol, RuleSymbolVersion, RuleKernelStub,
                             RuleOperatorClaim,   RuleBuildLabel,    RuleStableAbi,
                             RuleTorchLayout,     RuleEntryPoint,    RuleTorchRange,
                             RuleMissingLibrary,  RuleVersionFloor,  RuleLibraryCopies,
                             RuleStubFolder,      RuleOpenedByName,  RuleNotLoadable,
                             RuleNoInterpreter,   RuleUnusedLibrary, RuleSearchFolder};
  for (const Rule rule : kRules) rule(context, findings);
}

Severity LoadSeverity(const HostLoad& load) {
  if (load.variant) return Severity::kNote;
  return load.module ? Severity::kError : Severity::kWarning;
}

bool IsDriverLibrary(std::string_view name) {
  // The user-space driver of Linux and its helpers: mounted into containers, in no package.
  constexpr std::string_view kStems[] = {"libcuda.so", "libnvidia-", "libnvcuvid.so",
                                         "libcudadebugger.so"};
  return std::any_of(std::begin(kStems), std::end(kStems),
                     [&](std::string_view stem) { return name.starts_with(stem); });
}

std::vector<size_t> GpusWith(const FileContext& context, Outcome outcome, Reason reason) {
  std::vector<size_t> gpus;
  for (size_t i = 0; i < context.file.verdicts.size(); ++i) {
    const FileVerdict& verdict = context.file.verdicts[i];
    if (verdict.outcome == outcome && verdict.reason == reason) gpus.push_back(i);
  }
  return gpus;
}

std::string GpuList(const FileContext& context, const std::vector<size_t>& gpus) {
  std::string text;
  for (size_t i = 0; i < gpus.size(); ++i) {
    if (i > 0) text += i + 1 == gpus.size() ? " and " : ", ";
    const Gpu& gpu = context.target.gpus[gpus[i]];
    text += GpuTarget(gpu);
    if (!gpu.product.empty() && gpus.size() <= 3) text += fmt::format(" ({})", gpu.product);
  }
  return text;
}

Finding NewFinding(const FileContext& context, std::string id, Severity severity) {
  Finding finding;
  finding.id = std::move(id);
  finding.severity = severity;
  finding.file = context.file.path;
  return finding;
}

std::string ImageEvidence(const FileImages& images, size_t index) {
  const Image& image = images.images[index];
  std::string text = ImageTarget(image);
  if (image.kind == ImageKind::kPtx)
    text += fmt::format(" (PTX ISA {})", VersionText(image.version));
  text += fmt::format(" at byte {:#x}", image.offset);
  const std::string& section = images.modules[image.module].section;
  if (!section.empty()) text += fmt::format(" of {}", section);
  return text;
}

std::string TargetList(const FileImages& images) {
  std::set<std::tuple<ImageKind, Arch>> seen;
  std::string text;
  std::vector<const Image*> order;
  for (const Image& image : images.images) {
    if (seen.emplace(image.kind, image.arch).second) order.push_back(&image);
  }
  std::sort(order.begin(), order.end(), [](const Image* a, const Image* b) {
    return std::tuple(a->kind != ImageKind::kCubin, a->kind, a->arch) <
           std::tuple(b->kind != ImageKind::kCubin, b->kind, b->arch);
  });
  for (const Image* image : order) text += (text.empty() ? "" : " ") + ImageTarget(*image);
  return text;
}

Role RoleFor(const FileContext& context, size_t gpu) {
  if (context.siblings) return context.siblings->RoleOf(context.file, gpu);
  return Siblings(context.report).RoleOf(context.file, gpu);
}

Severity FailureSeverity(const FileContext& context, const std::vector<size_t>& gpus) {
  Severity severity = Severity::kNote;
  if (!context.target.named) return severity;
  for (const size_t gpu : gpus) {
    const Role role = RoleFor(context, gpu);
    if (role == Role::kRequired) return Severity::kError;
    if (role == Role::kOptional) severity = Severity::kWarning;
  }
  return severity;
}

}  // namespace cuproof
