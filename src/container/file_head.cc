#include "container/file_head.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace cuproof {
namespace {

// Closes the descriptor on every way out.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

Error SystemError(const std::string& path, int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  return {missing ? ErrorCode::kNotFound : ErrorCode::kNotReadable, std::strerror(error), path,
          std::nullopt};
}

Result<FileHead> ReadFileHead(const std::string& path) {
  // Callers know that it was a regular file a moment ago. O_NONBLOCK: if a FIFO has taken its
  // place, opening it does not wait for a writer.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) return SystemError(path, errno);
  struct stat status;
  if (fstat(file.get(), &status) != 0) return SystemError(path, errno);
  if (!S_ISREG(status.st_mode)) {
    return Error{ErrorCode::kNotRegular, "expected a regular file", path, std::nullopt};
  }
  FileHead head;
  head.id = {status.st_dev, status.st_ino};
  head.size = static_cast<uint64_t>(status.st_size);
  if (head.size == 0) return head;
  std::array<uint8_t, kHeadSize> bytes;
  const ssize_t got = pread(file.get(), bytes.data(), bytes.size(), 0);
  if (got < 0) return SystemError(path, errno);
  head.content = TellContent({bytes.data(), static_cast<uint64_t>(got)}, head.size);
  return head;
}

}  // namespace cuproof
