#include "diff/log_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "diff/gate_finding.h"
#include "symbol/demangle.h"

namespace cuproof {
namespace {

struct Form {
  Severity severity;
  const char* message;
  const char* fix;
};

// Spills and local memory stand in the table, kernel by kernel, and are the gate's to judge.
const Form* FormOf(LogRemarkKind kind) {
  static constexpr Form kSerialized = {
      Severity::kWarning, "ptxas serialized its wgmma instructions: they no longer overlap",
      "keep accumulators in registers between wgmma.fence and wgmma.wait_group, inline what is "
      "called between, and give the kernel more registers (__launch_bounds__)"};
  static constexpr Form kSetmaxnreg = {
      Severity::kWarning, "ptxas ignored setmaxnreg: every warp group keeps the same registers",
      "give the kernel __launch_bounds__ with a number of blocks, and compile it as a whole "
      "(no -rdc, no calls)"};
  static constexpr Form kLoss = {Severity::kWarning, "ptxas tells of a loss of performance", ""};
  static constexpr Form kShared = {
      Severity::kError, "it uses more static shared memory than a block may have",
      "use dynamic shared memory and cudaFuncAttributeMaxDynamicSharedMemorySize"};
  static constexpr Form kRegisters = {
      Severity::kError, "it does not compile within the registers that it is given",
      "raise -maxrregcount, or lower the threads of __launch_bounds__"};
  switch (kind) {
    case LogRemarkKind::kSerialized:
      return &kSerialized;
    case LogRemarkKind::kSetmaxnregIgnored:
      return &kSetmaxnreg;
    case LogRemarkKind::kOtherLoss:
      return &kLoss;
    case LogRemarkKind::kTooMuchShared:
      return &kShared;
    case LogRemarkKind::kTooFewRegisters:
      return &kRegisters;
    case LogRemarkKind::kSpilled:
    case LogRemarkKind::kLocalMemory:
      break;
  }
  return nullptr;
}

Finding LogFinding(Severity severity, const std::string& file) {
  Finding finding;
  finding.id = "CP407";
  finding.severity = severity;
  finding.file = file;
  return finding;
}

std::optional<Finding> MixedFinding(const PtxasLog& log, const std::string& file) {
  const auto mixed = std::count_if(log.kernels.begin(), log.kernels.end(),
                                   [](const LogKernel& kernel) { return kernel.mixed; });
  if (mixed == 0) return std::nullopt;
  Finding finding = LogFinding(Severity::kNote, file);
  finding.message = fmt::format(
      "the numbers of {} of {} kernels are not told: compilations that ran side by side wrote "
      "between each other's lines",
      mixed, log.kernels.size());
  finding.fix =
      "make --output-sync=target, or ninja, which keeps the lines of one command together";
  finding.source = "GNU make manual, 5.4.2";
  finding.verified_on = "src/resource/ptxas_log_test.cc";
  return finding;
}

// Kernels whose numbers never came.
std::optional<Finding> CutFinding(const PtxasLog& log, const std::string& file) {
  const auto cut =
      std::count_if(log.kernels.begin(), log.kernels.end(), [](const LogKernel& kernel) {
        return kernel.resources.is_entry && !kernel.mixed && !kernel.resources.registers;
      });
  if (cut == 0) return std::nullopt;
  Finding finding = LogFinding(Severity::kWarning, file);
  finding.message = fmt::format(
      "the numbers of {} of {} kernels are not in the log: it was cut short, or they "
      "did not compile",
      cut, log.kernels.size());
  finding.fix = "keep the whole output of the build, with -Xptxas -v for every file";
  finding.source = "docs/gate.md";
  finding.verified_on = "src/diff/gate_test.cc";
  return finding;
}

}  // namespace

std::vector<MeasuredKernel> KernelsOf(const PtxasLog& log, const std::string& file) {
  std::vector<MeasuredKernel> kernels;
  kernels.reserve(log.kernels.size());
  for (const LogKernel& kernel : log.kernels) {
    MeasuredKernel measured;
    measured.file = file;
    measured.arch = kernel.arch;
    measured.demangled = DemangledOrSame(kernel.resources.name);
    measured.resources = kernel.resources;
    measured.shared_known = kernel.shared_known;
    kernels.push_back(std::move(measured));
  }
  return kernels;
}

std::vector<Finding> FindingsOfRemarks(const PtxasLog& log, const std::string& file) {
  std::vector<Finding> findings;
  // A build for six architectures says everything six times.
  std::map<std::tuple<LogRemarkKind, std::string, std::string, std::string>, size_t> said;
  for (const LogRemark& remark : log.remarks) {
    const Form* const form = FormOf(remark.kind);
    if (!form) continue;
    const auto [at, is_new] = said.emplace(
        std::tuple(remark.kind, remark.code, remark.function, remark.text), findings.size());
    if (!is_new) {
      findings[at->second].evidence.push_back(fmt::format("line {}: again", remark.line));
      continue;
    }
    Finding finding = LogFinding(form->severity, file);
    finding.subject = remark.function.empty() ? fmt::format("line {}", remark.line)
                                              : DemangledOrSame(remark.function);
    finding.message = form->message;
    finding.evidence.push_back(fmt::format(
        "line {}: {}{}", remark.line, remark.code.empty() ? "" : remark.code + ": ", remark.text));
    finding.fix = form->fix;
    finding.source = "ptxas's own words";
    finding.verified_on = "logs of ptxas 11.8 to 13.0 and of public reports";
    findings.push_back(std::move(finding));
  }
  if (const auto mixed = MixedFinding(log, file)) findings.push_back(*mixed);
  if (const auto cut = CutFinding(log, file)) findings.push_back(*cut);
  return findings;
}

}  // namespace cuproof
