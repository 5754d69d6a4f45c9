#include <unistd.h>

#include <memory>

#include "cli/command.h"
#include "cli/shared_options.h"
#include "diff/compare.h"
#include "output/diff_text.h"
#include "output/progress.h"
#include "output/summary.h"

namespace cuproof {
namespace {

struct DiffArguments {
  std::string before;
  std::string after;
  std::vector<std::string> gpus;
  OutputOptions output;
  std::string fail_on = "error";
  bool no_kernels = false;
};

Release Read(const std::string& path, ReleaseOptions options) {
  const Inventory inventory = TakeInventory({path});
  uint64_t bytes = 0;
  for (const Unit& unit : inventory.units) bytes += unit.size;
  Progress progress(bytes, inventory.units.size());
  options.on_unit_done = [&](uint64_t size) {
    progress.AddBytes(size);
    progress.AddFile();
  };
  Release release = ReadRelease(path, inventory, options);
  progress.Finish();
  return release;
}

std::string Rendered(const Comparison& comparison, const OutputOptions& output) {
  if (output.format == "json") return DiffJson(comparison, CUPROOF_VERSION);
  if (output.format == "markdown") return DiffMarkdown(comparison);
  return DiffText(comparison, output.StyleFor(STDOUT_FILENO));
}

int ExitCodeOf(const Comparison& comparison, FailOn fail_on) {
  Report report;
  report.problems = comparison.problems;
  for (const Change& change : comparison.changes) {
    Finding finding;
    finding.severity = change.severity;
    report.findings.push_back(std::move(finding));
  }
  return ExitCode(report, fail_on);
}

int RunDiff(const DiffArguments& arguments) {
  if (const auto refused = arguments.output.OverwritesInput({arguments.before, arguments.after})) {
    PrintError(*refused);
    return kExitCannot;
  }
  ReleaseOptions options;
  options.threads = arguments.output.Threads();
  options.kernels = !arguments.no_kernels;
  options.chosen_gpus = !arguments.gpus.empty();
  options.gpus = AllGpus(true);
  if (options.chosen_gpus) {
    TargetOptions target;
    target.gpus = arguments.gpus;
    auto resolved = target.Resolve();
    if (!resolved) {
      PrintError(resolved.error());
      return kExitCannot;
    }
    options.gpus = std::move(resolved->gpus);
  }
  const Release before = Read(arguments.before, options);
  const Release after = Read(arguments.after, options);
  const Comparison comparison = Compare(before, after, options.gpus);
  for (const Error& problem : comparison.problems) PrintError(problem);
  if (const auto written =
          WriteOutput(arguments.output.file, Rendered(comparison, arguments.output));
      !written) {
    PrintError(written.error());
    return kExitCannot;
  }
  return ExitCodeOf(comparison, ParseFailOn(arguments.fail_on).value_or(FailOn::kError));
}

}  // namespace

void AddDiffCommand(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<DiffArguments>();
  CLI::App* command = app.add_subcommand(
      "diff", "what a new release changes: GPUs, drivers, libraries, torch, kernels");
  command->add_option("OLD", arguments->before, "a file, a wheel, a folder or an environment")
      ->required()
      ->check(NotEmpty());
  command->add_option("NEW", arguments->after, "what has taken its place")
      ->required()
      ->check(NotEmpty());
  command
      ->add_option("--gpu", arguments->gpus,
                   "compare for this GPU only: sm_90, 9.0, a product name; repeatable (default: "
                   "every architecture)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--no-kernels", arguments->no_kernels,
                    "look at no kernel: no registers, spills and parameters");
  command
      ->add_option("--fail-on", arguments->fail_on,
                   "lowest severity that makes the exit code 1; error: a GPU was lost")
      ->check(CLI::IsMember({"error", "warning", "never"}))
      ->capture_default_str();
  arguments->output.AddTo(*command, {"text", "json", "markdown"});
  command->callback([arguments, &exit_code] { exit_code = RunDiff(*arguments); });
}

}  // namespace cuproof
