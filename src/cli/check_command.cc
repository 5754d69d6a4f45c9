#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/findings_output.h"
#include "cli/run.h"
#include "cli/shared_options.h"
#include "container/walk.h"
#include "link/environment.h"
#include "output/check_json.h"
#include "output/check_text.h"
#include "output/escape.h"
#include "output/summary.h"
#include "rule/check.h"
#include "rule/editable_install.h"

namespace cuproof {
namespace {

struct CheckArguments {
  std::vector<std::string> paths;
  TargetOptions target;
  OutputOptions output;
  std::string fail_on = "error";
  bool deep = false;
  std::string env;
  std::string sysroot;
  std::string library_path;
  bool no_host = false;
  bool no_source = false;
};

HostOptions HostOptionsOf(const CheckArguments& arguments) {
  HostOptions options;
  options.environment = arguments.env;
  options.sysroot = arguments.sysroot;
  options.library_path = SplitLibraryPath(arguments.library_path);
  return options;
}

std::string Rendered(const Report& report, const CheckArguments& arguments, const RunInfo& run) {
  if (arguments.output.format == "json") return DumpJson(CheckJson(report, run), 2) + "\n";
  if (arguments.output.format == "jsonl") return CheckJsonLines(report, run);
  if (arguments.output.format != "text")
    return FindingsOutput(arguments.output.format, "check", report.findings, report.problems);
  return CheckText(report, arguments.output.StyleFor(STDOUT_FILENO), run);
}

int RunCheck(CheckArguments& arguments) {
  if (arguments.paths.empty()) {
    const std::string environment = ActiveEnvironment();
    if (environment.empty()) {
      PrintError(
          {ErrorCode::kUsage,
           "no PATH given and no virtual environment is active: name a file, a wheel, a folder, "
           "an environment or pid:N",
           "", std::nullopt});
      return kExitCannot;
    }
    if (RealPath(environment).empty()) {
      PrintError(
          {ErrorCode::kNotFound,
           "no PATH given, and the active environment (VIRTUAL_ENV, else CONDA_PREFIX) is not "
           "there",
           environment, std::nullopt});
      return kExitCannot;
    }
    PrintNotice(fmt::format("no PATH given: checking the active environment {}\n",
                            EscapeTerminal(environment)));
    arguments.paths.push_back(environment);
  }
  if (const auto refused = arguments.output.OverwritesInput(arguments.paths)) {
    PrintError(*refused);
    return kExitCannot;
  }
  const auto target = arguments.target.Resolve();
  if (!target) {
    PrintError(target.error());
    return kExitCannot;
  }
  const Report report = ReadInputs(
      arguments.paths, arguments.output.Threads(), arguments.deep,
      [&](const Inventory& inventory, CheckOptions options) {
        options.host = !arguments.no_host;
        options.sources = !arguments.no_source;
        options.loader = HostOptionsOf(arguments);
        return Check(inventory, *target, options);
      },
      EditableParts(arguments.paths, HostOptionsOf(arguments)));
  RunInfo run;
  run.version = CUPROOF_VERSION;
  run.fail_on = ParseFailOn(arguments.fail_on).value_or(FailOn::kError);
  for (const Error& problem : report.problems) PrintError(problem);
  if (const auto written = WriteOutput(arguments.output.file, Rendered(report, arguments, run));
      !written) {
    PrintError(written.error());
    return kExitCannot;
  }
  return ExitCode(report, run.fail_on);
}

}  // namespace

void AddCheckCommand(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<CheckArguments>();
  CLI::App* command = app.add_subcommand(
      "check", "say which GPUs and drivers binaries, wheels and environments run on, and why not");
  command
      ->add_option("PATH", arguments->paths,
                   "files, wheels, folders, environments, pid:N (default: the active virtual "
                   "environment)")
      ->check(NotEmpty());
  arguments->target.AddTo(*command);
  command->add_flag("--deep", arguments->deep,
                    "expand every image, and look for cubins outside of containers");
  command->add_option("--fail-on", arguments->fail_on, "lowest severity that makes the exit code 1")
      ->check(CLI::IsMember({"error", "warning", "never"}))
      ->capture_default_str();
  command
      ->add_option("--env", arguments->env,
                   "environment that the files are loaded into: a venv, a conda environment, a "
                   "site-packages folder (default: a PATH that is one)")
      ->check(CLI::ExistingDirectory);
  command
      ->add_option("--sysroot", arguments->sysroot,
                   "root of the system that they run on, as of a container (default: this one)")
      ->check(CLI::ExistingDirectory);
  command->add_option("--library-path", arguments->library_path,
                      "LD_LIBRARY_PATH of the process, before that of this one");
  command->add_flag("--no-host", arguments->no_host,
                    "look at device code only, not at what the loader would say");
  command->add_flag("--no-source", arguments->no_source,
                    "look at no source and build files of a folder");
  arguments->output.AddTo(*command, {"text", "json", "jsonl", "sarif", "markdown"});
  command->callback([arguments, &exit_code] { exit_code = RunCheck(*arguments); });
}

}  // namespace cuproof
