#include "cli/gate_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bytes/mapped_file.h"
#include "cli/shared_options.h"
#include "diff/gate_finding.h"
#include "diff/log_findings.h"
#include "output/check_parts.h"
#include "output/escape.h"
#include "resource/launch_log.h"
#include "resource/ptxas_log.h"
#include "symbol/demangle.h"

namespace cuproof {
namespace {

constexpr uint64_t kMaxLog = uint64_t{1} << 30;  // bytes

Result<std::string> TextOf(const std::string& path) {
  const auto file = MappedFile::Open(path);
  if (!file) return file.error();
  return std::string(file->bytes().Text());
}

// "sm_90a" -> {90, 'a'}
Arch ArchOf(const std::string& text) {
  Arch arch;
  arch.number = SmOf(text);
  const bool suffix = !text.empty() && text.back() >= 'a' && text.back() <= 'z';
  if (arch.number && suffix) arch.suffix = text.back();
  return arch;
}

// Of the chosen GPUs, those that run code of this architecture.
std::vector<uint32_t> GpusOf(const std::string& arch, const std::vector<Gpu>& gpus) {
  std::vector<uint32_t> sms;
  if (gpus.empty() || arch.empty()) return sms;
  const std::vector<uint32_t> runs = CapabilitiesFor(ArchOf(arch));
  for (const Gpu& gpu : gpus) {
    const bool chosen = std::find(runs.begin(), runs.end(), gpu.sm) != runs.end();
    if (chosen && std::find(sms.begin(), sms.end(), gpu.sm) == sms.end()) sms.push_back(gpu.sm);
  }
  return sms;
}

// What --kernel and --gpu leave of a log, and why there is nothing where they leave nothing. A
// function has no architecture there.
FileKernels KeepWanted(const SurveyOptions& survey, PtxasLog& log) {
  FileKernels file;
  for (const Gpu& gpu : survey.gpus) file.nothing_for.insert(gpu.sm);
  std::erase_if(log.kernels, [&](const LogKernel& kernel) {
    if (!kernel.arch.empty()) file.archs.insert(ArchOf(kernel.arch));
    const std::vector<uint32_t> gpus = GpusOf(kernel.arch, survey.gpus);
    for (const uint32_t sm : gpus) file.nothing_for.erase(sm);
    if (!survey.gpus.empty() && !kernel.arch.empty() && gpus.empty()) return true;
    if (survey.wanted(kernel.resources.name)) return false;
    file.other_kernels += kernel.resources.is_entry ? 1 : 0;
    return true;
  });
  if (file.archs.empty()) file.nothing_for.clear();
  return file;
}

void AddRows(const PtxasLog& log, const SurveyOptions& survey, KernelNames& names,
             FileKernels& file) {
  for (const LogKernel& kernel : log.kernels) {
    if (!kernel.resources.is_entry && !survey.device_functions) continue;
    KernelRow row;
    row.name = names.Keep(kernel.resources.name, [](const std::string&) { return true; }).first;
    row.arch = ArchOf(kernel.arch);
    row.gpus = GpusOf(kernel.arch, survey.gpus);
    row.resources = kernel.resources;
    row.resources.name.clear();
    row.of_log = true;
    row.shared_known = kernel.shared_known;
    file.kernels.push_back(std::move(row));
  }
}

std::vector<std::string> ArchsOf(const std::vector<MeasuredKernel>& kernels,
                                 const std::vector<Gpu>& gpus) {
  std::set<std::string> archs;
  for (const Gpu& gpu : gpus) archs.insert(GpuTarget(gpu));
  if (archs.empty()) {
    for (const MeasuredKernel& kernel : kernels) archs.insert(kernel.arch);
  }
  archs.erase("");
  return {archs.begin(), archs.end()};
}

void ReadLog(const std::string& path, std::string_view text, const SurveyOptions& survey,
             const GateOptions& options, KernelNames& names, GateLogs& logs) {
  PtxasLog log = ReadPtxasLog(text);
  FileKernels file = KeepWanted(survey, log);
  file.path = path;
  std::vector<MeasuredKernel> kernels = KernelsOf(log, path);
  for (MeasuredKernel& kernel : kernels) Measure(kernel, options);
  const auto add = [&](std::vector<Finding> findings) {
    std::move(findings.begin(), findings.end(), std::back_inserter(logs.findings));
  };
  add(FindingsOfRemarks(log, path));
  add(FindingsOfFailures(ReadLaunchFailures(text), path, kernels, ArchsOf(kernels, survey.gpus),
                         options));
  AddRows(log, survey, names, file);
  logs.files.push_back(std::move(file));
  std::move(kernels.begin(), kernels.end(), std::back_inserter(logs.kernels));
}

void AddKernels(const Survey& survey, const GateOptions& options,
                std::vector<MeasuredKernel>& kernels) {
  for (const FileKernels& file : survey.files) {
    for (const KernelRow& row : file.kernels) {
      if (!row.resources.is_entry) continue;
      MeasuredKernel kernel;
      kernel.file = file.path;
      kernel.arch = "sm_" + ArchText(row.arch);
      kernel.resources = row.resources;
      kernel.resources.name = *row.name;
      kernel.demangled = DemangledOrSame(*row.name);
      Measure(kernel, options);
      kernels.push_back(std::move(kernel));
    }
  }
}

void AddProblem(Survey& survey, std::string phrase, const std::string& file) {
  survey.problems.push_back({ErrorCode::kUsage, std::move(phrase), file, std::nullopt});
  PrintError(survey.problems.back());
}

// Of the GPUs that were chosen, those for which there is a kernel.
std::vector<uint32_t> GpusMet(const Survey& survey, const std::vector<MeasuredKernel>& logged) {
  std::set<uint32_t> met;
  for (const FileKernels& file : survey.files) {
    for (const KernelRow& row : file.kernels) met.insert(row.gpus.begin(), row.gpus.end());
  }
  for (const MeasuredKernel& kernel : logged) met.insert(SmOf(kernel.arch));
  return {met.begin(), met.end()};
}

// A baseline of half a build would let the other half pass for good.
std::optional<Error> WriteBaseline(const std::string& file, const GateOptions& options,
                                   const std::vector<MeasuredKernel>& kernels, Survey& survey) {
  if (!survey.problems.empty()) {
    AddProblem(survey, "not written: not everything could be read", file);
    return std::nullopt;
  }
  const Baseline baseline = MakeBaseline(kernels);
  if (const auto written = WriteOutput(file, BaselineText(baseline)); !written)
    return written.error();
  if (!options.whole || !options.gpus.empty()) {
    PrintNotice(fmt::format("{}: holds only the {} kernels that --kernel and --gpu leave\n",
                            EscapeTerminal(file), baseline.kernels.size()));
  }
  return std::nullopt;
}

template <typename T>
void Append(std::vector<T> more, std::vector<T>& all) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

}  // namespace

void GateArguments::AddTo(CLI::App& command) {
  command.add_option("--budget", budget, "TOML file of what kernels may take (docs/gate.md)")
      ->check(CLI::ExistingFile);
  command
      .add_option("--baseline", baseline,
                  "compare with this file: more registers or spills, lost occupancy, lost kernels")
      ->check(CLI::ExistingFile);
  command.add_option("--write-baseline", write_baseline, "write the baseline to this file")
      ->check(NotEmpty());
  command
      .add_option("--ptx", ptx,
                  "of a launch that failed: compile the PTX of this file within the registers that "
                  "launch, and say what it spills")
      ->check(CLI::ExistingFile);
  command.add_option("--ptxas", ptxas, "the ptxas that --ptx runs")->capture_default_str();
  command.add_option("--fail-on", fail_on, "lowest severity that makes the exit code 1")
      ->check(CLI::IsMember({"error", "warning", "never"}))
      ->capture_default_str();
}

bool GateArguments::Asked() const {
  return !budget.empty() || !baseline.empty() || !write_baseline.empty();
}

GateLogs TakeLogs(std::vector<std::string>& paths, const SurveyOptions& survey,
                  const GateOptions& options, KernelNames& names) {
  GateLogs logs;
  std::erase_if(paths, [&](const std::string& path) {
    const auto file = MappedFile::Open(path);
    if (!file || file->bytes().size() > kMaxLog) return false;
    const std::string_view text = file->bytes().Text();
    if (!LooksLikePtxasLog(text) && !LooksLikeLaunchFailure(text)) return false;
    ReadLog(path, text, survey, options, names, logs);
    return true;
  });
  return logs;
}

Result<std::vector<Finding>> RunGate(const GateArguments& arguments, Survey& survey, GateLogs logs,
                                     const GateOptions& options) {
  std::vector<Finding> findings = std::move(logs.findings);
  if (arguments.Asked()) {
    std::vector<MeasuredKernel> kernels = std::move(logs.kernels);
    const std::string& gate = arguments.budget.empty() ? arguments.baseline : arguments.budget;
    if (!gate.empty()) Append(GpusNotChecked(gate, GpusMet(survey, kernels), options), findings);
    AddKernels(survey, options, kernels);
    if (kernels.empty() && survey.problems.empty())
      AddProblem(survey, "no kernel was read: nothing was checked", "");
    if (!arguments.baseline.empty()) {
      const auto text = TextOf(arguments.baseline);
      if (!text) return text.error();
      const auto baseline = ParseBaseline(*text, arguments.baseline);
      if (!baseline) return baseline.error();
      Append(CompareWithBaseline(*baseline, kernels, options), findings);
    }
    if (!arguments.budget.empty()) {
      const auto text = TextOf(arguments.budget);
      if (!text) return text.error();
      const auto file = ParseBudgetFile(*text, arguments.budget);
      if (!file) return file.error();
      Append(CheckBudgets(*file, kernels, options), findings);
      ApplyAllowances(*file, kernels, options, findings);
    }
    if (!arguments.write_baseline.empty()) {
      if (auto error = WriteBaseline(arguments.write_baseline, options, kernels, survey))
        return *error;
    }
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return findings;
}

std::string GateText(const std::vector<Finding>& findings, const Style& style) {
  Report report;
  report.findings = findings;
  std::string text;
  AppendFindings(report, style, text);
  return text;
}

}  // namespace cuproof
