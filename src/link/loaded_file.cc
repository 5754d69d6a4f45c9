#include "link/loaded_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <functional>

namespace cuproof {
namespace {

// More files than a process maps; further ones are read again when they are asked for.
constexpr size_t kMaxKept = 3000;
// Places where nothing was, remembered.
constexpr size_t kMaxPaths = 200'000;

void TakeObject(LoadedFile& file) {
  const ByteView bytes = file.bytes();
  if (const auto identity = ReadElfIdentity(bytes)) file.identity = *identity;
  auto object = DynamicObject::Read(bytes);
  if (object) {
    file.object = std::move(*object);
  } else {
    file.error = object.error();
    file.error->file = file.path;
  }
}

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
  TakeObject(*file);
  return file;
}

// Numbered like files of a device that there is none of.
std::shared_ptr<const LoadedFile> ReadMember(const std::string& path, const Unit& unit,
                                             std::shared_ptr<UnitBytes> bytes) {
  auto file = std::make_shared<LoadedFile>();
  file->path = path;
  file->exists = true;
  file->device = UINT64_MAX;
  file->inode = std::hash<std::string>{}(path);
  if (!bytes) {
    auto opened = OpenUnit(unit);
    if (!opened) {
      file->error = opened.error();
      return file;
    }
    bytes = std::move(*opened);
  }
  file->member = std::move(bytes);
  TakeObject(*file);
  return file;
}

}  // namespace

std::string FileCache::At(const std::string& path) const {
  // "pkg/../torch/lib" leads to torch though no folder pkg is on disk yet.
  if (installed_.empty()) return path;
  return std::filesystem::path(path).lexically_normal().string();
}

std::shared_ptr<const LoadedFile> FileCache::Open(const std::string& asked) {
  const std::string path = At(asked);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = by_path_.find(path); known != by_path_.end()) return known->second;
  }
  const auto member = installed_.find(path);
  auto file = member == installed_.end()
                  ? Read(path)
                  : ReadMember(path, member->second.unit, member->second.bytes);
  const std::lock_guard lock(mutex_);
  if ((file->mapped && ++mapped_ > kMaxKept) || by_path_.size() >= kMaxPaths) return file;
  return by_path_.try_emplace(path, std::move(file)).first->second;
}

bool FileCache::FolderExists(const std::string& asked) {
  const std::string path = At(asked);
  if (installed_folders_.contains(path)) return true;
  const std::lock_guard lock(mutex_);
  if (folders_.size() >= kMaxPaths) folders_.clear();
  const auto [at, added] = folders_.try_emplace(path, false);
  struct stat status;
  if (added) at->second = stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  return at->second;
}

void FileCache::Install(const std::string& asked, Unit member, std::shared_ptr<UnitBytes> bytes) {
  const std::string path = std::filesystem::path(asked).lexically_normal().string();
  for (size_t slash = path.rfind('/'); slash != std::string::npos && slash != 0;
       slash = path.rfind('/', slash - 1)) {
    if (!installed_folders_.insert(path.substr(0, slash)).second) break;
  }
  installed_.insert_or_assign(path, Installed{std::move(member), std::move(bytes)});
}

}  // namespace cuproof
