#pragma once
// The rare events: one JSON object a line in PID.jsonl.
#include <stddef.h>

#include "state.h"

namespace cuproof::inject {

/// Builds one line. Takes State::lock for its whole life, because the buffer is shared: keep it
/// short, and never call the driver while one lives.
class Event {
 public:
  explicit Event(const char* name);
  ~Event();  // writes the line
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  Event& Text(const char* key, const char* text);
  Event& Text(const char* key, const char* text, size_t length);
  Event& Number(const char* key, uint64_t number);
  Event& Signed(const char* key, int64_t number);
  Event& Pointer(const char* key, const void* handle);
  Event& Flag(const char* key, bool value);
  Event& Triple(const char* key, const uint32_t* values);
  Event& OpenObject(const char* key);
  Event& CloseObject();
  Event& OpenList(const char* key);
  Event& CloseList();
  Event& OpenItem();  // an object in a list
  Event& Item(const char* text, size_t length);

 private:
  void Key(const char* key);
  void Raw(const char* text, size_t length);
  void Quoted(const char* text, size_t length);
};

/// The `driver` line (resolve.cc).
void WriteDriverEvent();

/// The first lines of a process.
void WriteProcessEvents(bool forked);

/// A `lost` line, if one can still be written.
void WriteLost(const char* what, int error);

/// How often something equal was met, this time included.
uint32_t Repeat(uint64_t what);

/// True for 1, 2, 4, 8, …: an error in a loop does not fill the disk.
inline bool WorthALine(uint32_t count) { return (count & (count - 1)) == 0; }

}  // namespace cuproof::inject
