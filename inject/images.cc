#include "images.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "events.h"
#include "ring.h"

namespace cuproof::inject {
namespace {

// Public: the fat binary's wrapper and container as every CUDA program holds them
// (docs/formats.md).
constexpr uint32_t kWrapperMagic = 0x466243b1;
constexpr uint32_t kContainerMagic = 0xba55ed50;
constexpr uint64_t kMaxText = 256ULL << 20;
constexpr uint64_t kMaxKeptAfterError = 64ULL << 20;

struct Wrapper {
  uint32_t magic;
  uint32_t version;
  const void* container;
  void* other;
};

struct Container {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;
  uint64_t payload_bytes;
};

// The stretch of a loaded ELF file that holds an address.
struct Mapped {
  uintptr_t address;
  uint64_t left = 0;  // bytes up to the end of what the file gives
  uint64_t offset = 0;
  char* path;
  size_t path_room;
};

int FindSegment(dl_phdr_info* info, size_t, void* data) {
  auto* wanted = static_cast<Mapped*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const uintptr_t start = info->dlpi_addr + segment.p_vaddr;
    if (wanted->address < start || wanted->address - start >= segment.p_filesz) continue;
    const uint64_t inside = wanted->address - start;
    wanted->left = segment.p_filesz - inside;
    wanted->offset = segment.p_offset + inside;
    if (info->dlpi_name != nullptr && info->dlpi_name[0] != 0) {
      if (info->dlpi_name[0] == '/') {
        snprintf(wanted->path, wanted->path_room, "%s", info->dlpi_name);
      } else {
        char* full = realpath(info->dlpi_name, nullptr);
        snprintf(wanted->path, wanted->path_room, "%s", full == nullptr ? "" : full);
        free(full);
      }
    } else {
      const ssize_t length = readlink("/proc/self/exe", wanted->path, wanted->path_room - 1);
      wanted->path[length > 0 ? length : 0] = 0;
    }
    return 1;
  }
  return 0;
}

uint64_t ElfSize(const void* bytes) {
  Elf64_Ehdr header;
  if (SafeRead(&header, bytes, sizeof header) != sizeof header) return 0;
  uint64_t end = header.e_shoff + uint64_t{header.e_shentsize} * header.e_shnum;
  const uint64_t segments = header.e_phoff + uint64_t{header.e_phentsize} * header.e_phnum;
  if (segments > end) end = segments;
  // The section table comes last in every cubin met, but a section behind it would count.
  for (uint32_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    const char* at =
        static_cast<const char*>(bytes) + header.e_shoff + uint64_t{i} * header.e_shentsize;
    if (SafeRead(&section, at, sizeof section) != sizeof section) return 0;
    if (section.sh_type == SHT_NOBITS) continue;
    if (section.sh_offset + section.sh_size > end) end = section.sh_offset + section.sh_size;
  }
  return end > (1ULL << 40) ? 0 : end;
}

uint64_t TextSize(const void* bytes) {
  char part[4096];
  const char* at = static_cast<const char*>(bytes);
  for (uint64_t size = 0; size < kMaxText;) {
    const size_t got = SafeRead(part, at + size, sizeof part - ((uintptr_t)(at + size) & 4095));
    if (got == 0) return 0;
    const size_t length = strnlen(part, got);
    size += length;
    if (length < got) return size;
  }
  return 0;
}

bool LooksLikeText(const unsigned char* head, size_t size) {
  for (size_t i = 0; i < size && head[i] != 0; ++i) {
    if (head[i] < 9 || (head[i] > 13 && head[i] < 32) || head[i] > 126) return false;
  }
  return size != 0 && head[0] != 0;
}

// Calls `take` with the bytes in parts; false when some could not be read.
template <typename Take>
bool InParts(const void* bytes, uint64_t size, Take take) {
  static char part[1 << 16];  // under State::lock
  for (uint64_t done = 0; done < size;) {
    const size_t wanted = size - done < sizeof part ? size - done : sizeof part;
    if (SafeRead(part, static_cast<const char*>(bytes) + done, wanted) != wanted) return false;
    if (!take(part, wanted)) return false;
    done += wanted;
  }
  return true;
}

// Of a kind and size that can be read from memory.
bool HasBytes(uint8_t kind, uint64_t size) {
  return kind != static_cast<uint8_t>(ImageKind::kPath) &&
         kind != static_cast<uint8_t>(ImageKind::kUnknown) && size != 0;
}

bool HashImage(const void* bytes, uint64_t size, uint64_t* hash) {
  Lock lock;
  static XXH3_state_t hasher;
  XXH3_128bits_reset(&hasher);
  const bool whole = InParts(bytes, size, [](const char* part, size_t length) {
    XXH3_128bits_update(&hasher, part, length);
    return true;
  });
  const XXH128_hash_t digest = XXH3_128bits_digest(&hasher);
  hash[0] = digest.high64;
  hash[1] = digest.low64;
  return whole;
}

void HashText(const uint64_t* hash, char* text) {
  snprintf(text, 33, "%016llx%016llx", static_cast<unsigned long long>(hash[0]),
           static_cast<unsigned long long>(hash[1]));
}

void DumpName(const ImageShadow& image, char* name, size_t room) {
  char hash[33];
  HashText(image.hash, hash);
  const char* ending = image.kind == static_cast<uint8_t>(ImageKind::kCubin)    ? "cubin"
                       : image.kind == static_cast<uint8_t>(ImageKind::kFatbin) ? "fatbin"
                                                                                : "ptx";
  snprintf(name, room, "%s.%s", hash, ending);
}

// Copies an image into images/, once by its content. Under a name of its own until it is whole.
bool Dump(const ImageShadow& image) {
  char name[64];
  DumpName(image, name, sizeof name);
  char path[640];
  char unfinished[700];
  snprintf(path, sizeof path, "%s/images/%s", shim->folder, name);
  snprintf(unfinished, sizeof unfinished, "%s.%ld.%u", path, static_cast<long>(getpid()),
           thread.tid);
  if (access(path, F_OK) == 0) return true;
  if (state->image_bytes.fetch_add(image.size, std::memory_order_relaxed) + image.size >
      shim->image_bytes) {
    WriteLost("image", EFBIG);
    return false;
  }
  int file = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0 && errno == ENOENT) {
    char folder[560];
    snprintf(folder, sizeof folder, "%s/images", shim->folder);
    mkdir(folder, 0700);
    file = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  }
  if (file < 0) {
    WriteLost("image", errno);
    return false;
  }
  int error = 0;
  bool whole;
  {
    Lock lock;
    whole = InParts(image.bytes, image.size, [&](const char* part, size_t length) {
      for (size_t done = 0; done < length;) {
        const ssize_t written = write(file, part + done, length - done);
        if (written < 0) {
          error = errno;
          return false;
        }
        done += static_cast<size_t>(written);
      }
      return true;
    });
  }
  close(file);
  if (whole && rename(unfinished, path) == 0) return true;
  if (error == 0) error = whole ? errno : EFAULT;
  unlink(unfinished);
  WriteLost("image", error);
  return false;
}

// The error log that the program asked for, if its buffer holds text.
size_t ErrorLog(const JitOptions& options, char* text, size_t room) {
  const void* buffer = nullptr;
  size_t size = 0;
  for (uint32_t i = 0; i < options.count && i < 64; ++i) {
    uint32_t key;
    void* value;
    if (SafeRead(&key, options.keys + i, sizeof key) != sizeof key) return 0;
    if (SafeRead(&value, options.values + i, sizeof value) != sizeof value) return 0;
    if (key == kJitErrorLogBuffer) buffer = value;
    if (key == kJitErrorLogBytes) size = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(value));
  }
  if (buffer == nullptr || size == 0) return 0;
  const size_t got = SafeRead(text, buffer, size < room ? size : room);
  return strnlen(text, got);
}

}  // namespace

size_t SafeRead(void* to, const void* from, size_t size) {
  // Of our own memory: the kernel checks the address and answers EFAULT where we would crash.
  const iovec local = {to, size};
  const iovec remote = {const_cast<void*>(from), size};
  const ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  return got > 0 ? static_cast<size_t>(got) : 0;
}

const char* ImageKindWord(ImageKind kind) {
  switch (kind) {
    case ImageKind::kCubin:
      return "cubin";
    case ImageKind::kFatbin:
      return "fatbin";
    case ImageKind::kPtx:
      return "ptx";
    case ImageKind::kPath:
      return "path";
    case ImageKind::kUnknown:
      break;
  }
  return "unknown";
}

ImageView LookAtImage(const void* bytes) {
  ImageView image;
  image.bytes = bytes;
  unsigned char head[64] = {};
  const size_t got = SafeRead(head, bytes, sizeof head);
  if (got < 4) return image;
  uint32_t magic;
  memcpy(&magic, head, sizeof magic);
  if (magic == kWrapperMagic && got >= sizeof(Wrapper)) {
    Wrapper wrapper;
    memcpy(&wrapper, head, sizeof wrapper);
    image.bytes = wrapper.container;
    if (SafeRead(head, image.bytes, sizeof(Container)) != sizeof(Container)) return image;
    memcpy(&magic, head, sizeof magic);
  }
  if (magic == kContainerMagic && got >= sizeof(Container)) {
    Container container;
    memcpy(&container, head, sizeof container);
    image.kind = ImageKind::kFatbin;
    image.size = container.header_bytes + container.payload_bytes;
  } else if (memcmp(head, ELFMAG, SELFMAG) == 0) {
    image.kind = ImageKind::kCubin;
    image.size = ElfSize(image.bytes);
  } else if (LooksLikeText(head, got)) {
    image.kind = ImageKind::kPtx;
    image.size = TextSize(image.bytes);
  }
  Mapped mapped = {reinterpret_cast<uintptr_t>(image.bytes), 0, 0, image.file, sizeof image.file};
  if (dl_iterate_phdr(FindSegment, &mapped) == 1 && mapped.left >= image.size) {
    image.offset = mapped.offset;
  } else {
    image.file[0] = 0;
  }
  return image;
}

ImageView LookAtPath(const char* path) {
  ImageView image;
  image.kind = ImageKind::kPath;
  char relative[512] = "";
  const size_t got = SafeRead(relative, path, sizeof relative - 1);
  relative[got] = 0;
  if (got == 0) return image;
  char* full = realpath(relative, nullptr);
  snprintf(image.file, sizeof image.file, "%s", full == nullptr ? relative : full);
  free(full);
  struct stat status;
  if (stat(image.file, &status) == 0) image.size = static_cast<uint64_t>(status.st_size);
  return image;
}

uint32_t RecordImage(const ImageView& image, const char* api, int result, uint64_t ns,
                     const void* module, const JitOptions& options) {
  const uint32_t id = state->images.fetch_add(1, std::memory_order_relaxed) + 1;
  if (id >= kMaxImages) {
    if (id == kMaxImages) WriteLost("images", 0);
    return 0;
  }
  ImageShadow& shadow = state->image[id];
  shadow.bytes = image.bytes;
  shadow.size = image.size;
  shadow.kind = static_cast<uint8_t>(image.kind);
  shadow.in_file = image.file[0] != 0;
  const bool wanted = (shim->options & trace::kOptionDumpImages) != 0 ||
                      (result != kSuccess && !shadow.in_file && image.size <= kMaxKeptAfterError);
  // A library's image stays in its file: reading 500 MB of it for a hash would be felt.
  bool hashed = false;
  if (HasBytes(shadow.kind, shadow.size) && (wanted || !shadow.in_file)) {
    hashed = HashImage(image.bytes, image.size, shadow.hash);
    if (hashed && wanted) shadow.dumped = Dump(shadow);
  }
  char log[4096];
  const size_t log_size = result == kSuccess ? 0 : ErrorLog(options, log, sizeof log);
  Event event("image");
  event.Number("id", id).Text("api", api).Text("kind", ImageKindWord(image.kind));
  event.Number("size", image.size);
  if (hashed) {
    char hash[33];
    HashText(shadow.hash, hash);
    event.Text("hash", hash);
  }
  if (image.file[0] != 0) event.Text("file", image.file).Number("offset", image.offset);
  event.Signed("result", result).Number("ns", ns);
  if (module != nullptr) event.Pointer("module", module);
  if (shadow.dumped) {
    char name[64];
    DumpName(shadow, name, sizeof name);
    event.Text("dumped", name);
  }
  if (log_size != 0) event.Text("log", log, log_size);
  return id;
}

void KeepImage(uint32_t id) {
  if (id == 0 || id >= kMaxImages) return;
  ImageShadow& shadow = state->image[id];
  if (shadow.in_file || shadow.dumped || shadow.size > kMaxKeptAfterError) return;
  if (!HasBytes(shadow.kind, shadow.size)) return;
  uint64_t now[2];
  if (!HashImage(shadow.bytes, shadow.size, now)) return;
  if (now[0] != shadow.hash[0] || now[1] != shadow.hash[1]) return;  // freed, and used again
  shadow.dumped = Dump(shadow);
  if (!shadow.dumped) return;
  char name[64];
  DumpName(shadow, name, sizeof name);
  Event event("dump");
  event.Number("image", id).Text("dumped", name);
}

}  // namespace cuproof::inject
