#pragma once
#include <string>

#include "bytes/result.h"
#include "bytes/view.h"

namespace cuproof {

/// A regular file mapped read-only. Sockets, FIFOs, devices and folders are refused without being
/// opened for reading, so that nothing blocks. If the file shrinks while it is read, what is
/// missing reads as zeros (a handler for SIGBUS does that) and changed() turns true.
class MappedFile {
 public:
  static Result<MappedFile> Open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  ByteView bytes() const { return bytes_; }
  /// True when the file shrank under us.
  bool changed() const;
  /// Lets the system take back the memory of a part that will hardly be read again; where it is, it
  /// comes from the file once more.
  void Forget(ByteView part) const;
  /// Gives the descriptor back, of which a process has few: for one who keeps many files mapped.
  /// changed() then knows of what was read past the new end, and no more.
  void ReleaseDescriptor();

 private:
  MappedFile() = default;
  ByteView bytes_;
  int slot_ = -1;  // in the table that the SIGBUS handler reads
  int fd_ = -1;    // open while it is mapped, to ask for the size again
};

}  // namespace cuproof
