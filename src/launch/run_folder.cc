#include "launch/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "launch/preload.h"
#include "link/text_file.h"

namespace cuproof::launch {
namespace {

constexpr int kMaxSameSecond = 100;

Error Failed(const std::string& path, std::string phrase) {
  return {ErrorCode::kNotReadable, std::move(phrase), path, std::nullopt};
}

Error CannotWrite(const std::string& path, size_t bytes, int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  return Failed(path,
                fmt::format("{} bytes could not be written: {}{}", bytes, std::strerror(error),
                            full ? "; free some, or name another folder with -o" : ""));
}

Result<bool> WriteFile(const std::string& path, std::string_view bytes) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return CannotWrite(path, bytes.size(), errno);
  std::string_view rest = bytes;
  int error = 0;
  while (!rest.empty() && error == 0) {
    const ssize_t count = write(fd, rest.data(), rest.size());
    if (count > 0) {
      rest.remove_prefix(static_cast<size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      error = count == 0 ? ENOSPC : errno;
    }
  }
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0) return true;
  unlink(path.c_str());
  return CannotWrite(path, bytes.size(), error);
}

/// Whether the loader could map a file of this folder: not so on a mount with noexec.
bool CanBeRun(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return false;
  void* at = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
  close(fd);
  if (at == MAP_FAILED) return false;
  munmap(at, 4096);
  return true;
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value ? value : "";
}

std::string DefaultName() {
  const std::time_t now = std::time(nullptr);
  std::tm local = {};
  localtime_r(&now, &local);
  char date[32];
  std::strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &local);
  return fmt::format("cuproof-run-{}-{}", date, getpid());
}

/// mkdir with a number behind the name where that is taken: process ids are the same in many
/// containers.
int MakeNumbered(std::string& path) {
  const std::string first = path;
  for (int number = 2; mkdir(path.c_str(), 0700) != 0; ++number) {
    if (errno != EEXIST || number > kMaxSameSecond) return errno;
    path = fmt::format("{}-{}", first, number);
  }
  return 0;
}

/// An open folder that is no link and belongs to this user, with mode 0700; else an error.
Result<bool> TakeFolder(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    return Failed(path, fmt::format("expected a new or an empty folder, and no link: {}",
                                    std::strerror(errno)));
  }
  struct stat status;
  const bool known = fstat(fd, &status) == 0;
  const bool own = known && status.st_uid == geteuid();
  const bool closed_to_others = own && fchmod(fd, 0700) == 0;
  close(fd);
  if (!own) return Failed(path, "belongs to another user; name another folder with -o");
  if (!closed_to_others) return Failed(path, "could not be closed to other users (mode 0700)");
  return true;
}

std::string Resolved(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  std::string text = real ? real : "";
  std::free(real);  // NOLINT(cppcoreguidelines-no-malloc)
  return text;
}

}  // namespace

Result<RunFolder> RunFolder::Make(const std::string& requested) {
  RunFolder folder;
  std::string path = requested.empty() ? DefaultName() : requested;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  if (requested.empty()) {
    int error = MakeNumbered(path);
    if (error == EROFS || error == EACCES || error == EPERM) {
      const std::string temporary = Variable("TMPDIR");
      path = (temporary.empty() ? "/tmp" : temporary) + '/' + DefaultName();
      folder.notes_.push_back(
          fmt::format("the current folder cannot be written to ({}): recorded in {}",
                      std::strerror(error), path));
      error = MakeNumbered(path);
    }
    if (error != 0) {
      return Failed(path, fmt::format("could not be made: {}; name another folder with -o",
                                      std::strerror(error)));
    }
    folder.made_ = true;
  } else if (mkdir(path.c_str(), 0700) == 0) {
    folder.made_ = true;
  } else if (errno != EEXIST) {
    return Failed(path, fmt::format("could not be made: {}; name a folder with -o whose parent is "
                                    "there and can be written to",
                                    std::strerror(errno)));
  }
  if (auto taken = TakeFolder(path); !taken) return taken.error();
  if (!ListFolder(path, 1).empty()) {
    return Failed(path, "is not empty; a run needs a folder of its own");
  }
  folder.path_ = Resolved(path);
  if (folder.path_.empty()) return Failed(path, "vanished while it was made");
  return folder;
}

Result<std::string> RunFolder::PlaceLibrary(const std::string& name, std::string_view bytes) {
  // False where files of the folder cannot be run; the folder is gone then, and after an error.
  const auto try_folder = [&](const std::string& folder) -> Result<bool> {
    const std::string path = folder + '/' + name;
    auto written = WriteFile(path, bytes);
    const bool fits = written && CanBeRun(path);
    if (fits) {
      folders_.push_back(folder);
      files_.push_back(path);
      return true;
    }
    unlink(path.c_str());
    rmdir(folder.c_str());
    if (!written) return written.error();
    return false;
  };
  std::string why = "LD_PRELOAD cannot name a path with a blank, a colon or a dollar sign";
  if (CanBePreloaded(path_)) {
    const std::string folder = path_ + "/lib";
    if (mkdir(folder.c_str(), 0700) != 0) {
      return Failed(folder, fmt::format("could not be made: {}", std::strerror(errno)));
    }
    const auto placed = try_folder(folder);
    if (!placed) return placed.error();
    if (*placed) return folder;
    why = "the run folder is on a file system whose files cannot be run (noexec)";
  }
  for (const std::string& place : {Variable("XDG_RUNTIME_DIR"), std::string("/tmp"),
                                   std::string("/dev/shm"), std::string("/var/tmp")}) {
    if (place.empty() || place[0] != '/' || !CanBePreloaded(place)) continue;
    std::string folder = place + "/cuproof-lib-XXXXXX";
    if (!mkdtemp(folder.data())) continue;
    const auto placed = try_folder(folder);
    if (!placed || !*placed) continue;
    notes_.push_back(fmt::format(
        "{}: the libraries are in {}, which can be removed when no process of the run is left", why,
        folder));
    return folder;
  }
  return Failed(path_, why +
                           ", and neither XDG_RUNTIME_DIR, /tmp, /dev/shm nor /var/tmp can hold "
                           "the libraries instead; name another folder with -o");
}

Result<bool> RunFolder::WriteNew(const std::string& path, std::string_view bytes) {
  auto written = WriteFile(path, bytes);
  if (written) files_.push_back(path);
  return written;
}

void RunFolder::Remove() {
  for (const std::string& file : files_) unlink(file.c_str());
  unlink((path_ + "/run.json").c_str());
  for (const std::string& folder : folders_) rmdir(folder.c_str());
  if (made_) rmdir(path_.c_str());
}

Result<bool> ReplaceWhole(const std::string& path, std::string_view bytes) {
  const std::string part = path + ".part";
  unlink(part.c_str());  // of a launcher that was killed
  if (auto written = WriteFile(part, bytes); !written) return written.error();
  if (rename(part.c_str(), path.c_str()) == 0) return true;
  const int error = errno;
  unlink(part.c_str());
  return CannotWrite(path, bytes.size(), error);
}

}  // namespace cuproof::launch
