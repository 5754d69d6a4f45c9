#pragma once
#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bytes/result.h"

namespace cuproof::launch {

/// What is executed, and how its environment differs from ours.
struct Command {
  std::vector<std::string> words;  // found in PATH as execvp does
  std::string preload;             // LD_PRELOAD; empty: left as it is
  // How SIGPIPE was handled when cuproof was called: the command line ignores it, the program must
  // not inherit that.
  void (*sigpipe)(int) = SIG_DFL;
};

/// How a program ended.
struct Ending {
  int exit_code = 0;
  int signal = 0;  // it died of this one; 0: it exited
};

/// Why a program did not start.
struct StartFailure {
  Error error;
  int exit_code = 125;  // 127 not found, 126 cannot be executed, 125 our own failure
};

/// Replaces this process. Returns only what went wrong.
StartFailure Execute(const Command& command);

/// Starts a program in a child process and waits for its end. Signals that are sent to this process
/// go on to the child, once; those that the terminal sends reach it without us. `before` is called
/// in the child with its process id, before the program starts; an error of it ends the child. If
/// this process is killed, the program goes on.
struct Outcome {
  int pid = 0;
  std::optional<Ending> ending;
  std::optional<StartFailure> failure;
};
Outcome StartAndWait(const Command& command, const std::function<Result<bool>(int pid)>& before);

}  // namespace cuproof::launch
