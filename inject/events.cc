#include "events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ring.h"

namespace cuproof::inject {
namespace {

// The line that is being built, under State::lock. Grows to the longest name met, up to a bound:
// names of C++ kernels have been seen at 60,000 bytes.
char* line = nullptr;
size_t line_size = 0;
size_t line_room = 0;
bool line_cut = false;
bool needs_comma = false;
constexpr size_t kMaxLine = 1 << 20;
constexpr size_t kMaxCommand = 4096;

bool MakeRoom(size_t more) {
  if (line_size + more + 2 <= line_room) return true;
  if (line_size + more + 2 > kMaxLine) {
    line_cut = true;
    return false;
  }
  size_t room = line_room == 0 ? 4096 : line_room;
  while (room < line_size + more + 2) room *= 2;
  auto* larger = static_cast<char*>(realloc(line, room));
  if (larger == nullptr) {
    line_cut = true;
    return false;
  }
  line = larger;
  line_room = room;
  return true;
}

void CountLost(int error) {
  if (state->file == nullptr) return;
  if (state->file->lost_lines.fetch_add(1, std::memory_order_relaxed) == 0) {
    state->file->first_errno = static_cast<uint32_t>(error);
  }
}

// The file is opened for each line: a descriptor kept open could be closed by the program, and its
// number then belong to a file of the program's.
void Append() {
  if (line_cut) {
    CountLost(ENOMEM);
    return;
  }
  const uint64_t before = state->file->event_bytes.fetch_add(line_size, std::memory_order_relaxed);
  if (before + line_size > shim->event_bytes) {
    state->file->events_full.store(1, std::memory_order_relaxed);
    CountLost(EFBIG);
    return;
  }
  const int file =
      open(state->event_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) {
    CountLost(errno);
    return;
  }
  const ssize_t written = write(file, line, line_size);
  if (written < 0) {
    CountLost(errno);
  } else if (static_cast<size_t>(written) < line_size) {
    // A full disk took a part. The next line must not be glued to it.
    CountLost(ENOSPC);
    if (write(file, "\n", 1) != 1) CountLost(ENOSPC);
  }
  close(file);
}

// The bytes of a sequence of valid UTF-8 at `text`, or 0.
size_t Utf8Length(const unsigned char* text, size_t left) {
  const unsigned char first = text[0];
  size_t length = 0;
  if (first >= 0xc2 && first <= 0xdf) length = 2;
  if (first >= 0xe0 && first <= 0xef) length = 3;
  if (first >= 0xf0 && first <= 0xf4) length = 4;
  if (length == 0 || length > left) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((text[i] & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = text[1];
  if (first == 0xe0 && second < 0xa0) return 0;
  if (first == 0xed && second > 0x9f) return 0;  // surrogates
  if (first == 0xf0 && second < 0x90) return 0;
  if (first == 0xf4 && second > 0x8f) return 0;
  return length;
}

}  // namespace

Event::Event(const char* name) {
  pthread_mutex_lock(&state->lock);
  line_size = 0;
  line_cut = false;
  needs_comma = false;
  Raw("{", 1);
  Text("event", name);
  Number("ts", Clock());
  Number("tid", thread.tid);
}

Event::~Event() {
  Raw("}\n", 2);
  Append();
  pthread_mutex_unlock(&state->lock);
}

void Event::Raw(const char* text, size_t length) {
  if (!MakeRoom(length)) return;
  memcpy(line + line_size, text, length);
  line_size += length;
}

void Event::Quoted(const char* text, size_t length) {
  Raw("\"", 1);
  const auto* bytes = reinterpret_cast<const unsigned char*>(text);
  for (size_t i = 0; i < length;) {
    const unsigned char c = bytes[i];
    if (c == '"' || c == '\\') {
      const char escaped[2] = {'\\', static_cast<char>(c)};
      Raw(escaped, 2);
      ++i;
    } else if (c < 0x20 || c == 0x7f) {
      char escaped[8];
      snprintf(escaped, sizeof escaped, "\\u%04x", c);
      Raw(escaped, 6);
      ++i;
    } else if (c < 0x80) {
      Raw(text + i, 1);
      ++i;
    } else if (const size_t sequence = Utf8Length(bytes + i, length - i); sequence != 0) {
      Raw(text + i, sequence);
      i += sequence;
    } else {
      Raw("\\ufffd", 6);
      ++i;
    }
  }
  Raw("\"", 1);
}

void Event::Key(const char* key) {
  if (needs_comma) Raw(",", 1);
  needs_comma = true;
  if (key == nullptr) return;
  Quoted(key, strlen(key));
  Raw(":", 1);
}

Event& Event::Text(const char* key, const char* text) {
  return Text(key, text == nullptr ? "" : text, text == nullptr ? 0 : strlen(text));
}

Event& Event::Text(const char* key, const char* text, size_t length) {
  Key(key);
  Quoted(text, length);
  return *this;
}

Event& Event::Number(const char* key, uint64_t number) {
  Key(key);
  char digits[24];
  const int length =
      snprintf(digits, sizeof digits, "%llu", static_cast<unsigned long long>(number));
  Raw(digits, static_cast<size_t>(length));
  return *this;
}

Event& Event::Signed(const char* key, int64_t number) {
  Key(key);
  char digits[24];
  const int length = snprintf(digits, sizeof digits, "%lld", static_cast<long long>(number));
  Raw(digits, static_cast<size_t>(length));
  return *this;
}

Event& Event::Pointer(const char* key, const void* handle) {
  Key(key);
  char digits[24];
  const int length = snprintf(digits, sizeof digits, "\"0x%llx\"",
                              static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(handle)));
  Raw(digits, static_cast<size_t>(length));
  return *this;
}

Event& Event::Flag(const char* key, bool value) {
  Key(key);
  Raw(value ? "true" : "false", value ? 4 : 5);
  return *this;
}

Event& Event::Triple(const char* key, const uint32_t* values) {
  Key(key);
  char text[48];
  const int length = snprintf(text, sizeof text, "[%u,%u,%u]", values[0], values[1], values[2]);
  Raw(text, static_cast<size_t>(length));
  return *this;
}

Event& Event::OpenObject(const char* key) {
  Key(key);
  Raw("{", 1);
  needs_comma = false;
  return *this;
}

Event& Event::CloseObject() {
  Raw("}", 1);
  needs_comma = true;
  return *this;
}

Event& Event::OpenList(const char* key) {
  Key(key);
  Raw("[", 1);
  needs_comma = false;
  return *this;
}

Event& Event::CloseList() {
  Raw("]", 1);
  needs_comma = true;
  return *this;
}

Event& Event::OpenItem() {
  Key(nullptr);
  Raw("{", 1);
  needs_comma = false;
  return *this;
}

Event& Event::Item(const char* text, size_t length) {
  Key(nullptr);
  Quoted(text, length);
  return *this;
}

void WriteProcessEvents(bool forked) {
  char command[kMaxCommand];
  size_t size = 0;
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    const ssize_t got = read(file, command, sizeof command);
    if (got > 0) size = static_cast<size_t>(got);
    close(file);
  }
  char path[1024];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  {
    Event event("process");
    event.Number("pid", static_cast<uint64_t>(getpid()));
    event.Number("ppid", static_cast<uint64_t>(getppid()));
    event.Text("exe", path, length > 0 ? static_cast<size_t>(length) : 0);
    event.OpenList("command");
    for (size_t at = 0; at < size;) {
      const size_t end = at + strnlen(command + at, size - at);
      event.Item(command + at, end - at);
      at = end + 1;
    }
    event.CloseList();
    event.Text("cuproof", CUPROOF_VERSION);
  }
  if (forked) {
    Event event("fork");
    event.Number("parent", static_cast<uint64_t>(getppid()));
  }
  WriteDriverEvent();
}

void WriteLost(const char* what, int error) {
  if (state->file == nullptr) return;
  Event event("lost");
  event.Text("what", what);
  event.Signed("errno", error);
}

uint32_t Repeat(uint64_t what) {
  const uint64_t mixed = (what ^ (what >> 31)) * 0x9e3779b97f4a7c15;
  return state->repeats[mixed >> 54].fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace cuproof::inject
