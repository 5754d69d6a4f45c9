#include <fmt/format.h>
#include <fnmatch.h>
#include <unistd.h>

#include <charconv>
#include <ctime>
#include <memory>
#include <set>

#include "cli/bank.h"
#include "cli/command.h"
#include "cli/curve.h"
#include "cli/findings_output.h"
#include "cli/gate_options.h"
#include "cli/shared_options.h"
#include "output/progress.h"
#include "output/resources_csv.h"
#include "output/resources_json.h"
#include "output/resources_text.h"
#include "output/summary.h"
#include "resource/kernel_survey.h"
#include "resource/launch_question.h"
#include "rule/ptx_lints.h"
#include "symbol/demangle.h"
#include "target/table.h"

namespace cuproof {
namespace {

struct ResourcesArguments {
  std::vector<std::string> paths;
  TargetOptions target;
  OutputOptions output;
  std::string block;
  uint64_t dynamic_shared = 0;
  std::vector<std::string> kernels;
  bool functions = false;
  GateArguments gate;
  std::string sort;
  size_t top = 0;
  bool advice = false;
  std::string curve;
  std::string svg;
  std::vector<std::string> bank;
  bool lint = false;
};

// "256", "32x8", "8x8x4".
Result<std::array<uint32_t, 3>> ParseBlock(const std::string& text) {
  std::array<uint32_t, 3> block = {1, 1, 1};
  const char* at = text.data();
  const char* end = at + text.size();
  for (uint32_t& extent : block) {
    const auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc() || extent == 0 || extent > 1024) break;
    const uint64_t threads = uint64_t{block[0]} * block[1] * block[2];
    if (next == end && threads <= 1024) return block;
    if (next == end || *next != 'x') break;
    at = next + 1;
  }
  return Error{ErrorCode::kUsage,
               fmt::format("--block: expected up to 1024 threads, as 256 or 32x8, got '{}'", text),
               "", std::nullopt};
}

// "48K" becomes "49152".
CLI::Validator Kilobytes() {
  return {[](std::string& text) {
            uint64_t bytes = 0;
            const char* const end = text.data() + text.size();
            const auto [next, error] = std::from_chars(text.data(), end, bytes);
            const std::string_view unit(next, static_cast<size_t>(end - next));
            const bool kilo = unit == "K" || unit == "KB" || unit == "KiB";
            if (error != std::errc() || !(kilo || unit.empty()) || bytes > uint64_t{1} << 30)
              return fmt::format("expected bytes, as 49152 or 48K, got '{}'", text);
            text = fmt::format("{}", kilo ? bytes * 1024 : bytes);
            return std::string();
          },
          "BYTES"};
}

CLI::Validator FromOne() {
  return {[](std::string& text) {
            size_t number = 0;
            const char* const end = text.data() + text.size();
            const auto [next, error] = std::from_chars(text.data(), end, number);
            return error == std::errc() && next == end && number > 0
                       ? std::string()
                       : fmt::format("expected a number from 1 on, got '{}'", text);
          },
          "N"};
}

bool AnyMatches(const std::vector<std::string>& patterns, const std::string& name) {
  for (const std::string& pattern : patterns) {
    if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0) return true;
  }
  return false;
}

SurveyOptions SurveyOptionsOf(const ResourcesArguments& arguments) {
  SurveyOptions options;
  options.threads = arguments.output.Threads();
  options.device_functions = arguments.functions || arguments.output.format == "json";
  std::vector<std::string> patterns = arguments.kernels;
  if (!arguments.curve.empty()) patterns.push_back(arguments.curve);
  if (!patterns.empty()) {
    options.wanted = [patterns](const std::string& name) {
      return AnyMatches(patterns, name) || AnyMatches(patterns, DemangledOrSame(name));
    };
  }
  return options;
}

Survey ReadKernels(const std::vector<std::string>& paths, SurveyOptions options) {
  const Inventory inventory = TakeInventory(paths);
  uint64_t bytes = 0;
  for (const Unit& unit : inventory.units) bytes += unit.size;
  Progress progress(bytes, inventory.units.size());
  options.on_bytes = [&](uint64_t size) { progress.AddBytes(size); };
  options.on_unit_done = [&](uint64_t size) {
    progress.AddBytes(size);
    progress.AddFile();
  };
  Survey survey = SurveyKernels(inventory, options);
  progress.Finish();
  return survey;
}

std::string Rendered(const ResourcesArguments& arguments, const LaunchQuestion& question,
                     const std::vector<Gpu>& gpus, const std::vector<Finding>& findings,
                     Survey& survey) {
  const auto order = ParseKernelOrder(arguments.sort);
  if (arguments.output.format == "text") {
    const ResourcesTextOptions options = {question, order.value_or(KernelOrder::kSpills),
                                          arguments.top, arguments.advice, gpus};
    return ResourcesText(survey, options, arguments.output.StyleFor(STDOUT_FILENO));
  }
  if (order || arguments.top != 0) {
    ArrangeKernels(question, order.value_or(KernelOrder::kSpills), arguments.top, survey);
  }
  return arguments.output.format == "csv"
             ? ResourcesCsv(survey, question)
             : ResourcesJson(survey, question, findings, CUPROOF_VERSION);
}

std::string Today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

std::vector<uint32_t> SmsOf(const std::vector<Gpu>& gpus) {
  std::set<uint32_t> sms;
  for (const Gpu& gpu : gpus) sms.insert(gpu.sm);
  return {sms.begin(), sms.end()};
}

// Pairs of which one would be ignored without a word.
std::optional<std::string> IgnoredOption(const CLI::App& command, const std::string& format) {
  const auto given = [&](const char* name) { return command.count(name) > 0; };
  if (given("--bank")) {
    for (const char* other : {"PATH", "--gpu", "--dynamic-smem", "--kernel", "--curve", "--budget",
                              "--baseline", "--write-baseline", "--lint", "--advice"}) {
      if (given(other)) return fmt::format("--bank reads no file: leave {} out", other);
    }
  }
  const char* const what = given("--bank") ? "--bank" : given("--curve") ? "--curve" : nullptr;
  if (!what || format == "text" || (given("--bank") && format == "json")) return std::nullopt;
  return fmt::format("{} gives {}, not {}", what,
                     given("--bank") ? "text and json" : "text and --svg", format);
}

int Fail(const Error& error) {
  PrintError(error);
  return kExitCannot;
}

int RunBank(const ResourcesArguments& arguments) {
  const auto block = ParseBlock(arguments.block.empty() ? "32" : arguments.block);
  if (!block) return Fail(block.error());
  const auto answer = AnswerBank(arguments.bank, *block, arguments.output.format == "json");
  if (!answer) return Fail(answer.error());
  const auto written = WriteOutput(arguments.output.file, *answer);
  return written ? 0 : Fail(written.error());
}

int RunCurve(const ResourcesArguments& arguments, const LaunchQuestion& question,
             const SurveyOptions& options) {
  const Survey survey = ReadKernels(arguments.paths, options);
  for (const Error& problem : survey.problems) PrintError(problem);
  const auto text = AnswerCurve(survey, question, arguments.top, arguments.svg,
                                arguments.output.StyleFor(STDOUT_FILENO));
  if (!text) return Fail(text.error());
  const auto written = WriteOutput(arguments.output.file, *text);
  if (!written) return Fail(written.error());
  return survey.problems.empty() ? 0 : kExitCannot;
}

std::optional<Error> Overwrites(const ResourcesArguments& arguments) {
  const GateArguments& gate = arguments.gate;
  std::vector<std::string> inputs = arguments.paths;
  inputs.insert(inputs.end(), {gate.budget, gate.ptx});
  const OutputFile output = {"-o", arguments.output.file};
  const OutputFile svg = {"--svg", arguments.svg};
  if (auto refused =
          RefuseOverwrite({{"--write-baseline", gate.write_baseline}, output, svg}, inputs))
    return refused;
  // Over --baseline the new baseline may be written, but nothing else.
  return RefuseOverwrite({output, svg}, {gate.baseline});
}

int RunResources(const ResourcesArguments& arguments) {
  if (const auto refused = Overwrites(arguments)) return Fail(*refused);
  if (!arguments.bank.empty()) return RunBank(arguments);
  SurveyOptions options = SurveyOptionsOf(arguments);
  LaunchQuestion question;
  question.dynamic_shared = arguments.dynamic_shared;
  if (!arguments.block.empty()) {
    const auto block = ParseBlock(arguments.block);
    if (!block) return Fail(block.error());
    question.block = (*block)[0] * (*block)[1] * (*block)[2];
  }
  if (!arguments.target.gpus.empty()) {
    auto target = arguments.target.Resolve();
    if (!target) return Fail(target.error());
    options.gpus = std::move(target->gpus);
  } else if (!arguments.target.data.empty()) {
    if (auto set = SetDataFolder(arguments.target.data); !set) return Fail(set.error());
  }
  if (!arguments.curve.empty()) return RunCurve(arguments, question, options);
  const GateOptions gate = {
      question.block,     question.dynamic_shared, arguments.kernels.empty(), Today(),
      arguments.gate.ptx, arguments.gate.ptxas,    SmsOf(options.gpus)};
  std::vector<std::string> paths = arguments.paths;
  KernelNames log_names;
  GateLogs logs = TakeLogs(paths, options, gate, log_names);
  Survey survey = ReadKernels(paths, options);
  for (const Error& problem : survey.problems) PrintError(problem);
  std::vector<FileKernels> log_files = std::move(logs.files);
  auto findings = RunGate(arguments.gate, survey, std::move(logs), gate);
  if (!findings) return Fail(findings.error());
  if (arguments.lint) {
    auto lints = PtxLints(TakeInventory(paths), arguments.output.Threads(), survey.problems);
    DropArraysInRegisters(survey, lints);
    std::move(lints.begin(), lints.end(), std::back_inserter(*findings));
  }
  std::move(log_files.begin(), log_files.end(), std::back_inserter(survey.files));
  std::string text =
      FindingsOutput(arguments.output.format, "resources", *findings, survey.problems);
  if (text.empty()) text = Rendered(arguments, question, options.gpus, *findings, survey);
  if (arguments.output.format == "text") {
    if (!findings->empty() && !text.empty() && !text.ends_with("\n\n")) text += "\n";
    text += GateText(*findings, arguments.output.StyleFor(STDOUT_FILENO));
  }
  if (arguments.output.format == "csv")  // a table has no place for them
    PrintNotice(GateText(*findings, arguments.output.StyleFor(STDERR_FILENO)));
  if (const auto written = WriteOutput(arguments.output.file, text); !written)
    return Fail(written.error());
  Report report;
  report.findings = *findings;
  report.problems = survey.problems;
  return ExitCode(report, ParseFailOn(arguments.gate.fail_on).value_or(FailOn::kError));
}

}  // namespace

void AddResourcesCommand(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ResourcesArguments>();
  CLI::App* command = app.add_subcommand(
      "resources", "registers, spills, shared memory and occupancy of every kernel");
  command
      ->add_option("PATH", arguments->paths,
                   "files, wheels, folders, environments, pid:N, logs of a build or a run")
      ->check(NotEmpty());
  command
      ->add_option("--gpu", arguments->target.gpus,
                   "answer for this GPU only: sm_90, 9.0, a product name such as H200, or all; "
                   "repeatable (default: every image, on the GPUs it was built for)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--block", arguments->block,
                      "threads of a block, as 256 or 32x8 (default: what the kernel was compiled "
                      "for, else the best)");
  command
      ->add_option("--dynamic-smem", arguments->dynamic_shared,
                   "bytes of dynamic shared memory of a block, as 49152 or 48K")
      ->transform(Kilobytes())
      ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 30, "bytes"));
  command
      ->add_option("--kernel", arguments->kernels,
                   "only kernels whose name, mangled or not, matches this pattern (* ? [])")
      ->allow_extra_args(false);
  command->add_flag("--functions", arguments->functions,
                    "device functions with code of their own, too; JSON has them always");
  command
      ->add_option("--sort", arguments->sort,
                   "spills, registers, shared, stack, occupancy (lowest first) or name (default: "
                   "spills, and the order of the file in JSON and CSV)")
      ->check(CLI::IsMember({"spills", "registers", "shared", "stack", "occupancy", "name"}));
  command->add_option("--top", arguments->top, "the first N kernels of each file")
      ->check(FromOne());
  command->add_flag("--advice", arguments->advice,
                    "what fewer or more registers, and more shared memory, would bring");
  CLI::Option* curve =
      command
          ->add_option("--curve", arguments->curve,
                       "warps by registers and by threads of a block, of kernels that match this "
                       "pattern")
          ->check(NotEmpty());
  command->add_option("--svg", arguments->svg, "write the curve of the first one to this file")
      ->needs(curve)
      ->check(NotEmpty());
  command
      ->add_option("--bank", arguments->bank,
                   "no PATH: bank conflicts of an access to shared memory, as bytes of an element, "
                   "a colon and an index in tx, ty, tz or lane, '4: tx*33 + ty'; repeat it for "
                   "each access to the same array")
      ->allow_extra_args(false);
  command->add_flag("--lint", arguments->lint, "notes on what the PTX shows: CP411 to CP414");
  command
      ->add_option("--data", arguments->target.data,
                   "folder with newer tables than those compiled in")
      ->check(CLI::ExistingDirectory);
  arguments->gate.AddTo(*command);
  arguments->output.AddTo(*command, {"text", "json", "csv", "sarif", "markdown"});
  command->callback([arguments, command, &exit_code] {
    if (arguments->paths.empty() && arguments->bank.empty()) throw CLI::RequiredError("PATH");
    if (const auto ignored = IgnoredOption(*command, arguments->output.format))
      throw CLI::ValidationError(*ignored);
    exit_code = RunResources(*arguments);
  });
}

}  // namespace cuproof
