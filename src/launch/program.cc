#include "launch/program.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "bytes/mapped_file.h"
#include "link/text_file.h"
#include "symbol/dynamic_object.h"

namespace cuproof::launch {
namespace {

constexpr int kMaxInterpreters = 5;  // the kernel follows as many

bool IsExecutableFile(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

Error CannotExecute(const std::string& command, int error) {
  return {error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kNotReadable,
          fmt::format("cannot be executed: {}",
                      error == ENOENT ? "no such command" : std::strerror(error)),
          command, std::nullopt};
}

Result<std::string> FindCommand(const std::string& command) {
  if (command.empty()) return CannotExecute(command, ENOENT);
  if (command.find('/') != std::string::npos) {
    if (IsExecutableFile(command)) return command;
    struct stat status;
    if (stat(command.c_str(), &status) != 0) return CannotExecute(command, errno);
    return CannotExecute(command, S_ISDIR(status.st_mode) ? EISDIR : EACCES);
  }
  const char* variable = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
  std::string_view folders = variable ? variable : "/bin:/usr/bin";
  bool seen = false;
  while (true) {
    const size_t end = folders.find(':');
    const std::string folder(folders.substr(0, end));
    const std::string path = folder.empty() ? command : JoinPath(folder, command);
    if (IsExecutableFile(path)) return path;
    seen |= IsFile(path);
    if (end == std::string_view::npos) return CannotExecute(command, seen ? EACCES : ENOENT);
    folders.remove_prefix(end + 1);
  }
}

std::vector<std::string> Words(std::string_view line) {
  std::vector<std::string> words;
  while (true) {
    const size_t start = line.find_first_not_of(" \t");
    if (start == std::string_view::npos) return words;
    line.remove_prefix(start);
    const size_t end = line.find_first_of(" \t");
    words.emplace_back(line.substr(0, end));
    if (end == std::string_view::npos) return words;
    line.remove_prefix(end);
  }
}

/// The program that the `#!` line of a script asks for; with env, the one that env would find.
std::string Interpreter(std::string_view head) {
  const std::vector<std::string> words = Words(head.substr(2, head.find('\n') - 2));
  if (words.empty()) return "";
  if (words[0].substr(words[0].rfind('/') + 1) != "env") return words[0];
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word[0] == '-' || word.find('=') != std::string::npos) continue;
    const auto found = FindCommand(word);
    return found ? *found : words[0];
  }
  return words[0];
}

// The kernel marks a process that gains rights, and the loader then drops every LD_PRELOAD with a
// slash in it. A set-uid program of the very user gains none.
const char* GainedRights(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return nullptr;
  if ((status.st_mode & S_ISUID) && status.st_uid != getuid()) return "set-uid";
  if ((status.st_mode & S_ISGID) && status.st_gid != getgid()) return "set-gid";
  char value[64];
  if (getuid() != 0 && getxattr(path.c_str(), "security.capability", value, sizeof(value)) > 0) {
    return "given capabilities";
  }
  return nullptr;
}

void LookAtBinary(const std::string& path, ByteView bytes, Program& program) {
  const auto identity = ReadElfIdentity(bytes);
  if (!identity) return;  // a script without `#!`, or a format of binfmt_misc
  if (!identity->is_64_bit || !identity->little_endian || identity->machine != EM_X86_64) {
    program.preload = false;
    program.notes.push_back(fmt::format("{} is a program for {}, and the recorder is for x86-64",
                                        path, ElfMachineName(*identity)));
    return;
  }
  if (const char* rights = GainedRights(path)) {
    program.notes.push_back(fmt::format(
        "{} is {}: the loader drops LD_PRELOAD for it, so nothing of it or of what it starts is "
        "recorded",
        path, rights));
  }
  const auto object = DynamicObject::Read(bytes);
  if (!object) return;
  const std::string_view loader = object->interpreter;
  if (loader.empty()) {
    program.notes.push_back(fmt::format(
        "{} is linked statically: no loader takes part, so nothing of it is recorded; dynamic "
        "programs that it starts are",
        path));
  } else if (loader.find("/ld-musl-") != std::string_view::npos) {
    program.preload = false;
    program.notes.push_back(fmt::format(
        "{} is a program for musl ({}), and the recorder needs glibc, as the driver does", path,
        loader));
  }
}

}  // namespace

Result<Program> LookAtProgram(const std::string& command) {
  const auto found = FindCommand(command);
  if (!found) return found.error();
  Program program;
  program.path = *found;
  std::string path = *found;
  for (int depth = 0; depth < kMaxInterpreters; ++depth) {
    const auto file = MappedFile::Open(path);
    // A program may be executable and not readable; it then runs unseen by us, and the loader does
    // as it always does.
    if (!file) return program;
    const ByteView bytes = file->bytes();
    if (!bytes.StartsWith("#!")) {
      LookAtBinary(path, bytes, program);
      return program;
    }
    path = Interpreter(bytes.Clamp(0, 4096).Text());
    if (path.empty()) return program;
  }
  return program;
}

}  // namespace cuproof::launch
