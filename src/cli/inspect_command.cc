#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "cli/command.h"
#include "cli/run.h"
#include "cli/shared_options.h"
#include "output/inspect_json.h"
#include "output/inspect_text.h"
#include "rule/check.h"

namespace cuproof {
namespace {

struct InspectArguments {
  std::vector<std::string> paths;
  OutputOptions output;
  bool deep = false;
  bool images = false;
};

int RunInspect(const InspectArguments& arguments) {
  if (const auto refused = arguments.output.OverwritesInput(arguments.paths)) {
    PrintError(*refused);
    return kExitCannot;
  }
  const Report report = ReadInputs(arguments.paths, arguments.output.Threads(), arguments.deep,
                                   [](const Inventory& inventory, const CheckOptions& options) {
                                     return Inspect(inventory, options);
                                   });
  for (const Error& problem : report.problems) PrintError(problem);
  RunInfo run;
  run.version = CUPROOF_VERSION;
  std::string text;
  if (arguments.output.format == "json") {
    text = InspectJson(report.files, report.problems, run);
  } else {
    text = InspectText(report.files, {arguments.images}, arguments.output.StyleFor(STDOUT_FILENO));
  }
  if (const auto written = WriteOutput(arguments.output.file, text); !written) {
    PrintError(written.error());
    return kExitCannot;
  }
  return report.problems.empty() ? 0 : kExitCannot;
}

}  // namespace

void AddInspectCommand(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command =
      app.add_subcommand("inspect", "list what is inside: images, and sizes that add up");
  command->add_option("PATH", arguments->paths, "files, wheels, folders, pid:N")
      ->required()
      ->check(NotEmpty());
  command->add_flag("--images", arguments->images, "one line for each image");
  command->add_flag("--deep", arguments->deep,
                    "expand every image, and look for cubins outside of containers");
  arguments->output.AddTo(*command, {"text", "json"});
  command->callback([arguments, &exit_code] { exit_code = RunInspect(*arguments); });
}

}  // namespace cuproof
