#include "container/walk.h"

#include <dirent.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "container/file_head.h"

namespace cuproof {
namespace {

struct CloseDir {
  void operator()(DIR* dir) const { closedir(dir); }
};

bool IsInside(const std::string& path, const std::string& folder) {
  if (folder == "/") return true;
  return path.compare(0, folder.size(), folder) == 0 &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

// /proc and /sys below a walked "/": endless, and every file in them claims to be empty.
bool IsKernelFolder(int fd) {
  struct statfs status;
  return fstatfs(fd, &status) == 0 &&
         (status.f_type == PROC_SUPER_MAGIC || status.f_type == SYSFS_MAGIC);
}

unsigned char TypeOfMode(mode_t mode) {
  if (S_ISREG(mode)) return DT_REG;
  if (S_ISDIR(mode)) return DT_DIR;
  if (S_ISLNK(mode)) return DT_LNK;
  return DT_FIFO;
}

class Walker {
 public:
  explicit Walker(const std::vector<std::string>& walked) : walked_(walked) {}

  Listing Walk(const std::string& folder) {
    pending_.push_back(folder);
    while (!pending_.empty()) {
      const std::string next = std::move(pending_.back());
      pending_.pop_back();
      ListOne(next);
    }
    // A folder's order on disk is accidental; which of two hard-linked copies is shown must not be.
    std::sort(listing_.files.begin(), listing_.files.end());
    std::sort(listing_.links.begin(), listing_.links.end());
    return std::move(listing_);
  }

 private:
  void ListOne(const std::string& folder) {
    const std::unique_ptr<DIR, CloseDir> dir(opendir(folder.c_str()));
    if (!dir) {
      listing_.problems.push_back(SystemError(folder, errno));
      return;
    }
    if (IsKernelFolder(dirfd(dir.get()))) {
      Skip(folder, "the kernel's own file system: not looked into");
      return;
    }
    const std::string prefix = folder.back() == '/' ? folder : folder + '/';
    for (;;) {
      errno = 0;
      const dirent* entry = readdir(dir.get());
      if (!entry) break;
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") Take(prefix + entry->d_name, entry->d_type);
    }
    if (errno != 0) listing_.problems.push_back(SystemError(folder, errno));
  }

  void Take(std::string path, unsigned char type) {
    if (type == DT_UNKNOWN) type = AskType(path);
    if (type == DT_REG) {
      listing_.files.push_back(std::move(path));
    } else if (type == DT_DIR) {
      pending_.push_back(std::move(path));
    } else if (type == DT_LNK) {
      TakeLink(std::move(path));
    } else if (type != DT_UNKNOWN) {
      ++listing_.special;
    }
  }

  // Some file systems leave the type out of the folder.
  unsigned char AskType(const std::string& path) {
    struct stat status;
    if (lstat(path.c_str(), &status) == 0) return TypeOfMode(status.st_mode);
    listing_.problems.push_back(SystemError(path, errno));
    return DT_UNKNOWN;
  }

  void TakeLink(std::string path) {
    struct stat status;
    if (stat(path.c_str(), &status) != 0) {
      TakeBrokenLink(path, errno);
    } else if (S_ISREG(status.st_mode)) {
      listing_.links.push_back(std::move(path));
    } else if (!S_ISDIR(status.st_mode)) {
      ++listing_.special;
    } else if (!IsWalked(RealPath(path))) {
      Skip(path, "link to a folder outside: name it to check it");
    }
  }

  void TakeBrokenLink(const std::string& path, int error) {
    if (error == ELOOP) {
      Skip(path, "link that leads back to itself");
    } else if (error == ENOENT || error == ENOTDIR) {
      Skip(path, "link to a file that does not exist");
    } else {
      listing_.problems.push_back(SystemError(path, error));
    }
  }

  bool IsWalked(const std::string& real) const {
    return std::any_of(walked_.begin(), walked_.end(),
                       [&](const std::string& folder) { return IsInside(real, folder); });
  }

  void Skip(const std::string& path, const char* reason) {
    listing_.skipped.push_back({ErrorCode::kUnsupported, reason, path, std::nullopt});
  }

  const std::vector<std::string>& walked_;
  std::vector<std::string> pending_;
  Listing listing_;
};

}  // namespace

std::string RealPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? std::string(real.get()) : std::string();
}

Listing WalkFolder(const std::string& folder, const std::vector<std::string>& walked) {
  return Walker(walked).Walk(folder);
}

}  // namespace cuproof
