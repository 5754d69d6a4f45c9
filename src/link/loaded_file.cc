#include "link/loaded_file.h"

#include <sys/stat.h>

namespace cuproof {
namespace {

// More files than a process maps; further ones are read again when they are asked for.
constexpr size_t kMaxKept = 3000;
// Places where nothing was, remembered.
constexpr size_t kMaxPaths = 200'000;

std::shared_ptr<const LoadedFile> Read(const std::string& path) {
  auto file = std::make_shared<LoadedFile>();
  file->path = path;
  struct stat status;
  if (stat(path.c_str(), &status) == 0) {
    file->exists = true;
    file->device = status.st_dev;
    file->inode = status.st_ino;
  }
  auto mapped = MappedFile::Open(path);
  if (!mapped) {
    file->error = mapped.error();
    return file;
  }
  file->mapped = std::move(*mapped);
  file->mapped->ReleaseDescriptor();
  const ByteView bytes = file->mapped->bytes();
  if (const auto identity = ReadElfIdentity(bytes)) file->identity = *identity;
  auto object = DynamicObject::Read(bytes);
  if (object) {
    file->object = std::move(*object);
  } else {
    file->error = object.error();
    file->error->file = path;
  }
  return file;
}

}  // namespace

std::shared_ptr<const LoadedFile> FileCache::Open(const std::string& path) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = by_path_.find(path); known != by_path_.end()) return known->second;
  }
  auto file = Read(path);
  const std::lock_guard lock(mutex_);
  if ((file->mapped && ++mapped_ > kMaxKept) || by_path_.size() >= kMaxPaths) return file;
  return by_path_.try_emplace(path, std::move(file)).first->second;
}

bool FileCache::FolderExists(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (folders_.size() >= kMaxPaths) folders_.clear();
  const auto [at, added] = folders_.try_emplace(path, false);
  struct stat status;
  if (added) at->second = stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  return at->second;
}

}  // namespace cuproof
