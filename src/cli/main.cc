#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <new>
#include <string_view>

#include "cli/command.h"
#include "cli/shared_options.h"
#include "target/edit_distance.h"

namespace cuproof {
namespace {

/// "no command 'rum'; did you mean run?"
std::string UnknownCommand(const CLI::App& app, std::string_view word) {
  std::string nearest;
  size_t least = 3;  // further away, it is no typing error
  for (const CLI::App* command : app.get_subcommands({})) {
    const size_t distance = EditDistance(word, command->get_name());
    if (distance >= least) continue;
    least = distance;
    nearest = command->get_name();
  }
  return fmt::format("no command '{}'{}", word,
                     nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

/// Help and the version go to standard output; what was wrong with the arguments is one line.
int Explain(const CLI::App& app, const CLI::ParseError& error, int exit_cannot, const char* first) {
  if (error.get_exit_code() != 0) {
    std::string what = error.what();
    const bool no_command = app.get_subcommands().empty();
    if (no_command && first != nullptr && first[0] != '-') what = UnknownCommand(app, first);
    // CLI11 lists stray arguments last first.
    if (!no_command && dynamic_cast<const CLI::ExtrasError*>(&error)) {
      const std::vector<std::string> extras = app.remaining(true);
      what = fmt::format("the following argument{} not expected: {}",
                         extras.size() == 1 ? " was" : "s were", fmt::join(extras, " "));
      if (exit_cannot == kExitRunFailed) what += "; put -- before the command";
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
  AddDiffCommand(app, exit_code);
  AddExplainCommand(app, exit_code);
  AddLinkCommand(app, exit_code);
  AddReportCommand(app, exit_code);
  AddResourcesCommand(app, exit_code);
  AddRunCommand(app, exit_code, invocation);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return Explain(app, error, is_run ? kExitRunFailed : kExitCannot, argc > 1 ? argv[1] : nullptr);
  }
  return exit_code;
}

}  // namespace
}  // namespace cuproof

int main(int argc, char** argv) {
  try {
    // A reader that closes the pipe early (head, less) is told by EPIPE where we write.
    cuproof::Invocation invocation;
    invocation.inherited_sigpipe = std::signal(SIGPIPE, SIG_IGN);
    return cuproof::Run(argc, argv, invocation);
  } catch (const std::bad_alloc&) {
    std::fputs("cuproof: not enough memory\n", stderr);
  } catch (...) {
    std::fputs("cuproof: a fault of its own; please report how to repeat it\n", stderr);
  }
  return cuproof::kExitCannot;
}
