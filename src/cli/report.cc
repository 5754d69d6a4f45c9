#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "cli/command.h"
#include "cli/shared_options.h"
#include "output/report_json.h"
#include "output/report_perfetto.h"
#include "output/report_text.h"
#include "trace/reader.h"

namespace cuproof {
namespace {

int RunReportCommand(const std::string& folder, const OutputOptions& output) {
  if (const auto refused = output.OverwritesInput({folder})) {
    PrintError(*refused);
    return kExitCannot;
  }
  const auto run = trace::ReadRun(folder);
  if (!run) {
    PrintError(run.error());
    return kExitCannot;
  }
  std::string text;
  if (output.format == "perfetto") {
    text = ReportPerfetto(*run);
  } else {
    const RunReport report = MakeRunReport(*run);
    text = output.format == "json" ? ReportJson(report, CUPROOF_VERSION)
                                   : ReportText(report, output.StyleFor(STDOUT_FILENO));
  }
  if (const auto written = WriteOutput(output.file, text); !written) {
    PrintError(written.error());
    return kExitCannot;
  }
  // What could not be read is in the report, and is no reason to fail one that can be read else.
  return 0;
}

}  // namespace

void AddReportCommand(CLI::App& app, int& exit_code) {
  auto folder = std::make_shared<std::string>();
  auto output = std::make_shared<OutputOptions>();
  CLI::App* command = app.add_subcommand(
      "report", "what a run under `cuproof run` did, while it goes on or after its end");
  command->add_option("DIR", *folder, "the folder of the run, or a file in it")
      ->required()
      ->check(NotEmpty());
  output->AddTo(*command, {"text", "json", "perfetto"});
  command->footer(
      "perfetto is trace-event JSON of the calls that are still recorded, for ui.perfetto.dev.\n"
      "Exit codes: 0 it could be read; 2 it could not.");
  command->callback(
      [folder, output, &exit_code] { exit_code = RunReportCommand(*folder, *output); });
}

}  // namespace cuproof
