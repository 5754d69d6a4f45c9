#include "bytes/mapped_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

namespace cuproof {
namespace {

// A page of a mapping past the end of its file raises SIGBUS. The file was that long when it was
// mapped, so somebody shortened it meanwhile: a download that was started again, a rebuilt library.
// The handler puts a page of zeros there and marks the mapping, so that the reader goes on, rejects
// what it sees, and can say why.
struct Slot {
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> changed{false};
};
// A thread has one file open and a zip, and there are at most 1,024 threads.
constexpr size_t kSlots = 4096;
std::array<Slot, kSlots> g_slots;

void OnBusError(int, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Slot& slot : g_slots) {
    if (address < slot.begin.load() || address >= slot.end.load()) continue;
    const auto page = static_cast<uintptr_t>(getpagesize());
    void* at = reinterpret_cast<void*>(address & ~(page - 1));  // NOLINT(performance-no-int-to-ptr)
    if (mmap(at, page, PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0) == at) {
      slot.changed.store(true);
      return;
    }
  }
  signal(SIGBUS, SIG_DFL);
}

void InstallHandlerOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = OnBusError;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, nullptr);
  });
}

int TakeSlot(uintptr_t begin, uintptr_t end) {
  for (size_t i = 0; i < kSlots; ++i) {
    uintptr_t free = 0;
    if (!g_slots[i].begin.compare_exchange_strong(free, begin)) continue;
    g_slots[i].changed.store(false);
    g_slots[i].end.store(end);
    return static_cast<int>(i);
  }
  return -1;
}

Error Failed(const std::string& path, int error) {
  const ErrorCode code =
      error == ENOENT || error == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kNotReadable;
  return {code, std::strerror(error), path, std::nullopt};
}

const char* KindOf(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

Result<MappedFile> MappedFile::Open(const std::string& path) {
  // Looked at before it is opened: opening a device can have effects, and a FIFO can block. It is
  // looked at again after, since the path may lead elsewhere by then.
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return Failed(path, errno);
  if (S_ISREG(status.st_mode)) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return Failed(path, errno);
    MappedFile file;
    const bool known = fstat(fd, &status) == 0;
    if (known && S_ISREG(status.st_mode) && status.st_size > 0) {
      const auto size = static_cast<uint64_t>(status.st_size);
      void* at = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
      if (at == MAP_FAILED) {
        const int error = errno;
        close(fd);
        return Failed(path, error);
      }
      InstallHandlerOnce();
      const auto begin = reinterpret_cast<uintptr_t>(at);
      file.slot_ = TakeSlot(begin, begin + size);
      file.bytes_ = ByteView(static_cast<const uint8_t*>(at), size);
      file.fd_ = fd;
      return file;
    }
    close(fd);
    if (!known) return Failed(path, EIO);
    if (S_ISREG(status.st_mode)) return file;
  }
  return Error{ErrorCode::kNotRegular,
               std::string("expected a regular file, got ") + KindOf(status.st_mode), path,
               std::nullopt};
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})),
      slot_(std::exchange(other.slot_, -1)),
      fd_(std::exchange(other.fd_, -1)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(slot_, other.slot_);
  std::swap(fd_, other.fd_);
  return *this;
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  // The slot goes first: another thread may map a file at this very address as soon as it is free.
  if (slot_ >= 0) {
    Slot& slot = g_slots[static_cast<size_t>(slot_)];
    slot.end.store(0);
    slot.begin.store(0);
  }
  munmap(const_cast<uint8_t*>(bytes_.data()), bytes_.size());
  if (fd_ >= 0) close(fd_);
}

void MappedFile::Forget(ByteView part) const {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
  const auto end = (reinterpret_cast<uintptr_t>(part.data()) + part.size()) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

void MappedFile::ReleaseDescriptor() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

bool MappedFile::changed() const {
  if (slot_ >= 0 && g_slots[static_cast<size_t>(slot_)].changed.load()) return true;
  // Within its last page a mapping reads zeros without a signal.
  struct stat status;
  return fd_ >= 0 && fstat(fd_, &status) == 0 &&
         static_cast<uint64_t>(status.st_size) < bytes_.size();
}

}  // namespace cuproof
