#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "bytes/result.h"

namespace cuproof::launch {

/// The folder of one run, and what goes into it. What was made can be taken back as long as no
/// program was started.
class RunFolder {
 public:
  /// Makes `requested`, or takes it where it is an empty folder of this user's. Without a request
  /// it is
  /// ./cuproof-run-DATE-TIME-PID, or that under TMPDIR where the current folder cannot be written
  /// to.
  static Result<RunFolder> Make(const std::string& requested);

  /// Absolute, without links.
  const std::string& path() const { return path_; }
  /// Sentences on places that were not the first choice.
  const std::vector<std::string>& notes() const { return notes_; }

  /// Makes the folder for the libraries and writes the first of them. It is lib/ in the run folder,
  /// or, where files there cannot be mapped as programs or LD_PRELOAD could not name them, a folder
  /// of its own elsewhere. Returns its path.
  Result<std::string> PlaceLibrary(const std::string& name, std::string_view bytes);

  /// A new file; an error says what was missing.
  Result<bool> WriteNew(const std::string& path, std::string_view bytes);

  /// Takes back what this object made.
  void Remove();

 private:
  RunFolder() = default;
  std::string path_;
  bool made_ = false;
  std::vector<std::string> notes_;
  std::vector<std::string> files_;
  std::vector<std::string> folders_;  // besides path_
};

/// Replaces a file by way of a new one, so that a reader sees the old or the new one, never a part.
Result<bool> ReplaceWhole(const std::string& path, std::string_view bytes);

}  // namespace cuproof::launch
