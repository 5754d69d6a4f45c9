#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "bytes/mapped_file.h"
#include "symbol/dynamic_object.h"

namespace cuproof {

/// A mapped file and what a loader reads in it.
struct LoadedFile {
  std::string path;  // as it was opened
  uint64_t device = 0;
  uint64_t inode = 0;
  std::optional<MappedFile> mapped;  // none where the file could not be opened
  bool exists = false;               // something is there, perhaps a folder
  std::optional<ElfIdentity> identity;
  std::optional<DynamicObject> object;  // none where it is no ELF file of ours: `error` says why
  std::optional<Error> error;
};

/// Every file once, however many ask; shared by threads.
class FileCache {
 public:
  /// Never null. A file that is not there is remembered too.
  std::shared_ptr<const LoadedFile> Open(const std::string& path);
  bool FolderExists(const std::string& path);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const LoadedFile>> by_path_;
  std::unordered_map<std::string, bool> folders_;
  size_t mapped_ = 0;
};

}  // namespace cuproof
