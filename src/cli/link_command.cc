#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/shared_options.h"
#include "container/walk.h"
#include "link/python_process.h"
#include "output/link_json.h"
#include "output/link_text.h"

namespace cuproof {
namespace {

struct LinkArguments {
  std::vector<std::string> files;
  std::string env;
  std::string sysroot;
  std::string library_path;
  bool no_torch = false;
  bool ldd = false;
  std::string format = "text";
};

std::string Absolute(const std::string& path) {
  const std::string real = RealPath(path);
  // The path stays as it was given where it can: $ORIGIN comes from it, not from what a link means.
  if (real.empty() || path.empty() || path[0] == '/') return path;
  const std::string here = RealPath(".");
  return here.empty() ? real : here + '/' + path;
}

int RunLink(const LinkArguments& arguments) {
  EnvironmentOptions options;
  options.folder = arguments.env.empty() ? "" : Absolute(arguments.env);
  options.sysroot = arguments.sysroot.empty() ? "" : Absolute(arguments.sysroot);
  options.library_path = SplitLibraryPath(arguments.library_path);
  const Environment environment = FindEnvironment(options);
  for (const Error& problem : environment.problems) PrintError(problem);
  FileCache files;
  PrepareOptions prepare;
  prepare.torch = !arguments.no_torch;
  prepare.python = !arguments.ldd;
  if (arguments.ldd) prepare.torch = false;
  const PreparedProcess prepared = PrepareProcess(environment, files, prepare);
  LinkReport report{environment, prepared, {}};
  bool all_load = true;
  for (const std::string& file : arguments.files) {
    const std::string path = Absolute(file);
    std::optional<Process> process(prepared.process);
    LoadReport load = arguments.ldd ? TryLdd(environment, files, path, &process)
                                    : TryLoad(prepared, path, *process);
    all_load &= load.loads();
    report.files.push_back({file, std::move(load), std::move(*process)});
  }
  const std::string text =
      arguments.format == "json" ? LinkJson(report, CUPROOF_VERSION) : LinkText(report);
  if (const auto written = WriteOutput("", text); !written) {
    PrintError(written.error());
    return kExitCannot;
  }
  return all_load ? 0 : 1;
}

}  // namespace

void AddLinkCommand(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<LinkArguments>();
  CLI::App* command = app.add_subcommand(
      "link", "what the loader would say to a file in an environment (a model: no code is run)");
  command->add_option("FILE", arguments->files, "shared objects, or programs with --ldd")
      ->required()
      ->check(NotEmpty());
  command
      ->add_option("--env", arguments->env,
                   "environment to load into: a venv, a conda environment, a site-packages "
                   "folder or a prefix; its Python is the program, its torch is imported first")
      ->check(NotEmpty());
  command->add_option("--sysroot", arguments->sysroot, "root of the system, as of a container")
      ->check(NotEmpty());
  command->add_option("--library-path", arguments->library_path,
                      "LD_LIBRARY_PATH of the process (that of this one is not looked at)");
  command->add_flag("--no-torch", arguments->no_torch, "import no torch first");
  command->add_flag("--ldd", arguments->ldd,
                    "as `ldd -r` has it: the file is the program, nothing is loaded before");
  command->add_option("--format", arguments->format, "output format")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([arguments, &exit_code] { exit_code = RunLink(*arguments); });
}

}  // namespace cuproof
