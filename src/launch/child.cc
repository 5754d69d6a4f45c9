#include "launch/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace cuproof::launch {
namespace {

constexpr int kOwnFailure = 125;  // as of env, nohup and timeout, like the two of StartFailure

// Signals that mean the program when they reach the launcher. Not among them: faults of our own,
// those that stop a background process at the terminal (the default is right), and SIGPIPE.
constexpr std::array kForwarded = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM,
                                   SIGCONT, SIGTSTP, SIGURG,  SIGIO,   SIGPWR,  SIGWINCH};

sigset_t WaitedFor() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kForwarded) sigaddset(&set, signal);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) sigaddset(&set, signal);
  sigaddset(&set, SIGCHLD);
  return set;
}

StartFailure OwnFailure(std::string phrase) {
  return {{ErrorCode::kNotReadable, std::move(phrase), "", std::nullopt}, kOwnFailure};
}

// What the terminal sends (Ctrl-C, Ctrl-Z, a new size) goes to its whole foreground group, and the
// child is in ours: it has got that already. Who else sends to a whole group cannot be told from
// who sends to us alone.
bool ReachedTheGroup(const siginfo_t& info) { return info.si_code == SI_KERNEL; }

void Forward(pid_t child, const siginfo_t& info) {
  if (!ReachedTheGroup(info)) {
    if (info.si_code == SI_QUEUE) {
      sigqueue(child, info.si_signo, info.si_value);
    } else {
      kill(child, info.si_signo);
    }
  }
  // A shell that stops a job waits for us to stop, too. SIGCONT then wakes us, and is forwarded.
  if (info.si_signo == SIGTSTP) raise(SIGSTOP);
}

Ending WaitFor(pid_t child, const sigset_t& waited_for) {
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child && WIFEXITED(status)) return {WEXITSTATUS(status), 0};
    if (ended == child && WIFSIGNALED(status)) return {0, WTERMSIG(status)};
    if (ended < 0 && errno == ECHILD) return {kOwnFailure, 0};  // somebody else took its end
    siginfo_t info = {};
    const int signal = sigwaitinfo(&waited_for, &info);
    if (signal > 0 && signal != SIGCHLD) Forward(child, info);
  }
}

/// What a child that could not start writes into the pipe.
std::string Packed(const StartFailure& failure) {
  return fmt::format("{}\n{}\n{}", failure.exit_code, failure.error.file, failure.error.phrase);
}

StartFailure Unpacked(const std::string& text) {
  const size_t code_end = text.find('\n');
  const size_t phrase = text.rfind('\n');
  if (code_end == std::string::npos || phrase == code_end) return OwnFailure("the start failed");
  StartFailure failure = OwnFailure(text.substr(phrase + 1));
  failure.exit_code = std::atoi(text.c_str());  // NOLINT(cert-err34-c)
  failure.error.file = text.substr(code_end + 1, phrase - code_end - 1);
  return failure;
}

std::string ReadAll(int fd) {
  std::string text;
  std::array<char, 512> buffer;
  while (true) {
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<size_t>(count));
  }
}

}  // namespace

StartFailure Execute(const Command& command) {
  if (!command.preload.empty() && setenv("LD_PRELOAD", command.preload.c_str(), 1) != 0) {
    return OwnFailure(fmt::format("LD_PRELOAD could not be set: {}", std::strerror(errno)));
  }
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::signal(SIGPIPE, command.sigpipe);
  execvp(words[0], words.data());
  const int error = errno;
  return {
      {error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kNotReadable,
       fmt::format("cannot be executed: {}", std::strerror(error)), command.words[0], std::nullopt},
      error == ENOENT ? 127 : 126};
}

Outcome StartAndWait(const Command& command, const std::function<Result<bool>(int pid)>& before) {
  std::array<int, 2> failure = {};
  if (pipe2(failure.data(), O_CLOEXEC) != 0) {
    return {0, std::nullopt, OwnFailure(fmt::format("no pipe: {}", std::strerror(errno)))};
  }
  // Blocked signals are kept until sigwaitinfo takes them: none is lost between fork and wait. A
  // parent that ignores SIGCHLD would have the system throw the exit code away.
  const sigset_t waited_for = WaitedFor();
  sigset_t inherited;
  sigprocmask(SIG_BLOCK, &waited_for, &inherited);
  void (*const sigchld)(int) = std::signal(SIGCHLD, SIG_DFL);
  const pid_t child = fork();
  if (child < 0) {
    const int error = errno;
    sigprocmask(SIG_SETMASK, &inherited, nullptr);
    return {0, std::nullopt, OwnFailure(fmt::format("fork: {}", std::strerror(error)))};
  }
  if (child == 0) {
    close(failure[0]);
    std::signal(SIGCHLD, sigchld);
    sigprocmask(SIG_SETMASK, &inherited, nullptr);
    const auto ready = before(getpid());
    const StartFailure failed = ready ? Execute(command) : StartFailure{ready.error(), kOwnFailure};
    const std::string text = Packed(failed);
    // A launcher that has died does not ask.
    if (write(failure[1], text.data(), text.size()) < 0) _exit(kOwnFailure);
    _exit(failed.exit_code);
  }
  close(failure[1]);
  const std::string text = ReadAll(failure[0]);
  close(failure[0]);
  const Ending ending = WaitFor(child, waited_for);
  sigprocmask(SIG_SETMASK, &inherited, nullptr);
  if (!text.empty()) return {child, std::nullopt, Unpacked(text)};
  return {child, ending, std::nullopt};
}

}  // namespace cuproof::launch
