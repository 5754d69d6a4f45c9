#include <csignal>
#include <cstdio>
#include <new>

#include "cli/command.h"

int main(int argc, char** argv) {
  // A reader that closes the pipe early (head, less) is told by EPIPE where we write.
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app(
      "Says which GPUs and drivers CUDA binaries, wheels and environments run on, and why not.",
      "cuproof");
  app.set_version_flag("--version", std::string("cuproof ") + CUPROOF_VERSION);
  app.require_subcommand(1);
  app.footer("Exit codes: 0 nothing found at or above --fail-on; 1 findings; 2 could not do it.");
  int exit_code = 0;
  cuproof::AddCheckCommand(app, exit_code);
  cuproof::AddInspectCommand(app, exit_code);
  cuproof::AddExplainCommand(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : cuproof::kExitCannot;
  } catch (const std::bad_alloc&) {
    std::fputs("cuproof: not enough memory\n", stderr);
    return cuproof::kExitCannot;
  }
  return exit_code;
}
