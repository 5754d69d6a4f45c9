// The floor of anything that looks at a whole file through a mapping: reads one byte of every page
// of the files named, and prints bytes and seconds. Listing can be below it, since it skips the
// pages that hold the insides of images.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  uint64_t bytes = 0;
  uint64_t sum = 0;
  for (int i = 1; i < argc; ++i) {
    const int fd = open(argv[i], O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0 || status.st_size == 0) {
      std::fprintf(stderr, "touch_pages: cannot read %s\n", argv[i]);
      return 2;
    }
    const auto size = static_cast<uint64_t>(status.st_size);
    void* at = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (at == MAP_FAILED) return 2;
    const auto* data = static_cast<const volatile uint8_t*>(at);
    for (uint64_t page = 0; page < size; page += 4096) sum += data[page];
    bytes += size;
    munmap(at, size);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::printf("{\"bytes\": %llu, \"seconds\": %.6f, \"sum\": %llu}\n",
              static_cast<unsigned long long>(bytes), seconds,
              static_cast<unsigned long long>(sum));
  return 0;
}
