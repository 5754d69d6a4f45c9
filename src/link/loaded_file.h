#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "bytes/mapped_file.h"
#include "container/unit.h"
#include "symbol/dynamic_object.h"

namespace cuproof {

/// A mapped file and what a loader reads in it.
struct LoadedFile {
  std::string path;  // as it was opened
  uint64_t device = 0;
  uint64_t inode = 0;
  std::optional<MappedFile> mapped;   // none where the file could not be opened
  std::shared_ptr<UnitBytes> member;  // in place of `mapped`: out of a wheel
  bool exists = false;                // something is there, perhaps a folder
  std::optional<ElfIdentity> identity;
  std::optional<DynamicObject> object;  // none where it is no ELF file of ours: `error` says why
  std::optional<Error> error;

  ByteView bytes() const {
    return mapped ? mapped->bytes() : member ? member->bytes() : ByteView();
  }
};

/// Every file once, however many ask; shared by threads.
class FileCache {
 public:
  /// Never null. A file that is not there is remembered too.
  std::shared_ptr<const LoadedFile> Open(const std::string& path);
  bool FolderExists(const std::string& path);

  /// From now on a member of a wheel stands at `path`, as if it were installed; it is expanded when
  /// it is first asked for, where its bytes are not at hand. Before any other call.
  void Install(const std::string& path, Unit member, std::shared_ptr<UnitBytes> bytes = nullptr);

 private:
  std::string At(const std::string& path) const;

  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const LoadedFile>> by_path_;
  std::unordered_map<std::string, bool> folders_;
  struct Installed {
    Unit unit;
    std::shared_ptr<UnitBytes> bytes;
  };
  std::unordered_map<std::string, Installed> installed_;  // by normal path
  std::unordered_set<std::string> installed_folders_;
  size_t mapped_ = 0;
};

}  // namespace cuproof
