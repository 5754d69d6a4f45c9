#include "resource/recompile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace cuproof {
namespace {

// A file that vanishes with this object.
class TemporaryFile {
 public:
  TemporaryFile() {
    const char* const folder = std::getenv("TMPDIR");
    path_ = fmt::format("{}/cuproof.XXXXXX", folder && *folder ? folder : "/tmp");
    fd_ = mkostemp(path_.data(), O_CLOEXEC);
  }
  ~TemporaryFile() {
    if (fd_ < 0) return;
    close(fd_);
    unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int fd() const { return fd_; }
  const std::string& path() const { return path_; }

  bool Write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t count = write(fd_, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      text.remove_prefix(static_cast<size_t>(count));
    }
    return true;
  }

  std::string Text() const {
    constexpr size_t kMost = 64 << 20;
    std::string text;
    char part[65536];
    off_t at = 0;
    for (ssize_t count = 0; text.size() < kMost && (count = pread(fd_, part, sizeof part, at)) > 0;
         at += count) {
      text.append(part, static_cast<size_t>(count));
    }
    return text;
  }

 private:
  std::string path_;
  int fd_ = -1;
};

Error Failed(const std::string& ptxas, const std::string& phrase) {
  return {ErrorCode::kUnsupported, phrase, ptxas, std::nullopt};
}

// The exit status, or -1 with errno where it could not be started.
int Run(const std::string& program, std::vector<std::string> words, int output) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    errno = error;
    return -1;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Result<PtxasLog> CompileWithLimit(const std::string& ptxas, std::string_view ptx,
                                  const std::string& arch, uint32_t registers) {
  const TemporaryFile input;
  const TemporaryFile output;
  if (input.fd() < 0 || output.fd() < 0 || !input.Write(ptx))
    return Failed(ptxas, fmt::format("no temporary file for its input: {}", std::strerror(errno)));
  const int status = Run(ptxas,
                         {ptxas, "-v", "-arch=" + arch, fmt::format("-maxrregcount={}", registers),
                          input.path(), "-o", "/dev/null"},
                         output.fd());
  if (status < 0) return Failed(ptxas, fmt::format("cannot be run: {}", std::strerror(errno)));
  const std::string text = output.Text();
  if (status != 0) {
    const std::string line = text.substr(0, std::min<size_t>(text.find('\n'), 300));
    return Failed(ptxas, fmt::format("does not compile the PTX for {}: {}", arch, line));
  }
  return ReadPtxasLog(text);
}

}  // namespace cuproof
