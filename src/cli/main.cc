#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <csignal>
#include <iostream>
#include <new>
#include <string_view>

#include "cli/command.h"
#include "cli/shared_options.h"

namespace cuproof {
namespace {

/// Help and the version go to standard output; what was wrong with the arguments is one line.
int Explain(const CLI::App& app, const CLI::ParseError& error, int exit_cannot) {
  if (error.get_exit_code() != 0) {
    std::string what = error.what();
    // CLI11 lists stray arguments last first.
    if (dynamic_cast<const CLI::ExtrasError*>(&error)) {
      const std::vector<std::string> extras = app.remaining(true);
      what = fmt::format("the following argument{} not expected: {}",
                         extras.size() == 1 ? " was" : "s were", fmt::join(extras, " "));
    }
    PrintError({ErrorCode::kUsage, what + "; see --help", "", std::nullopt});
    return exit_cannot;
  }
  errno = 0;
  app.exit(error);
  if (std::cout.flush() || errno == EPIPE) return 0;
  PrintError({ErrorCode::kNotReadable, "could not be written", "standard output", std::nullopt});
  return kExitCannot;
}

// The command of `cuproof run` is taken away before the parser sees it: CLI11 would read brackets
// and empty words in it as notation of its own. The number of words that are left.
int TakeCommand(int argc, char** argv, Invocation& invocation) {
  if (argc < 2 || std::string_view(argv[1]) != "run") return argc;
  for (int i = 2; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--") continue;
    invocation.command = {argv + i + 1, argv + argc};
    return i;
  }
  return argc;
}

int Run(int argc, char** argv, Invocation invocation) {
  const bool is_run = argc > 1 && std::string_view(argv[1]) == "run";
  argc = TakeCommand(argc, argv, invocation);
  CLI::App app(
      "Says which GPUs and drivers CUDA binaries, wheels and environments run on, and why not.",
      "cuproof");
  app.set_version_flag("--version", std::string("cuproof ") + CUPROOF_VERSION);
  app.require_subcommand(1);
  app.footer("Exit codes: 0 nothing found at or above --fail-on; 1 findings; 2 could not do it.");
  int exit_code = 0;
  AddCheckCommand(app, exit_code);
  AddInspectCommand(app, exit_code);
  AddExplainCommand(app, exit_code);
  AddLinkCommand(app, exit_code);
  AddReportCommand(app, exit_code);
  AddRunCommand(app, exit_code, invocation);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return Explain(app, error, is_run ? kExitRunFailed : kExitCannot);
  } catch (const std::bad_alloc&) {
    PrintError({ErrorCode::kTooLarge, "not enough memory", "", std::nullopt});
    return kExitCannot;
  }
  return exit_code;
}

}  // namespace
}  // namespace cuproof

int main(int argc, char** argv) {
  // A reader that closes the pipe early (head, less) is told by EPIPE where we write.
  cuproof::Invocation invocation;
  invocation.inherited_sigpipe = std::signal(SIGPIPE, SIG_IGN);
  return cuproof::Run(argc, argv, invocation);
}
