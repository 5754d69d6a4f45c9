#include "container/zip_pool.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "bytes/mapped_file.h"
#include "container/file_head.h"

namespace cuproof {

/// All that is open of one zip.
struct ZipShelf {
  std::mutex loading;                      // held while bytes is made
  std::shared_ptr<const UnitBytes> bytes;  // made once
  std::vector<std::unique_ptr<Zip>> idle;  // under the pool's mutex, as is last_use
  uint64_t last_use = 0;
  std::atomic<uint64_t> memory{0};  // size of bytes, where they are not a mapped file
};

namespace {

class MappedUnit : public UnitBytes {
 public:
  explicit MappedUnit(MappedFile file) : file_(std::move(file)) {}
  ByteView bytes() const override { return file_.bytes(); }
  bool changed() const override { return file_.changed(); }
  void Forget(ByteView part) const override { file_.Forget(part); }

 private:
  MappedFile file_;
};

class ExpandedUnit : public UnitBytes {
 public:
  explicit ExpandedUnit(Buffer buffer) : buffer_(std::move(buffer)) {}
  ByteView bytes() const override { return buffer_.view(); }

 private:
  Buffer buffer_;
};

// A mapping takes one of the 256 slots of bytes/mapped_file.cc, a handle on a wheel with 16,000
// members about 3 MB.
constexpr size_t kMaxShelves = 48;
constexpr size_t kMaxIdle = 64;
constexpr uint64_t kMaxMemory = 1ull << 30;

class Pool {
 public:
  std::shared_ptr<ZipShelf> Shelf(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    auto& shelf = shelves_[key];
    if (!shelf) shelf = std::make_shared<ZipShelf>();
    shelf->last_use = ++clock_;
    std::shared_ptr<ZipShelf> found = shelf;
    Shrink();
    return found;
  }

  std::unique_ptr<Zip> TakeIdle(ZipShelf& shelf) {
    const std::scoped_lock lock(mutex_);
    if (shelf.idle.empty()) return nullptr;
    std::unique_ptr<Zip> zip = std::move(shelf.idle.back());
    shelf.idle.pop_back();
    return zip;
  }

  void GiveBack(ZipShelf& shelf, std::unique_ptr<Zip> zip) {
    const std::scoped_lock lock(mutex_);
    shelf.idle.push_back(std::move(zip));
  }

 private:
  bool OverFull() const {
    size_t idle = 0;
    uint64_t memory = 0;
    for (const auto& [key, shelf] : shelves_) {
      idle += shelf->idle.size();
      memory += shelf->memory.load();
    }
    return shelves_.size() > kMaxShelves || idle > kMaxIdle || memory > kMaxMemory;
  }

  // Whoever holds a lease on a shelf keeps it alive; it only is not found any more.
  void Shrink() {
    while (shelves_.size() > 1 && OverFull()) {
      shelves_.erase(std::min_element(
          shelves_.begin(), shelves_.end(),
          [](const auto& a, const auto& b) { return a.second->last_use < b.second->last_use; }));
    }
  }

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<ZipShelf>> shelves_;
  uint64_t clock_ = 0;
};

Pool& ThePool() {
  static Pool pool;
  return pool;
}

// Not by path: a file that was replaced meanwhile is another zip.
Result<std::string> KeyOf(const std::string& file, std::span<const Member> within) {
  struct stat status;
  if (stat(file.c_str(), &status) != 0) return SystemError(file, errno);
  std::string key = fmt::format("{} {} {} {}.{}", status.st_dev, status.st_ino, status.st_size,
                                status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  for (const Member& member : within) key += fmt::format("/{}", member.index);
  return key;
}

Result<Buffer> ExpandMember(const std::string& file, std::span<const Member> members) {
  const auto zip = LeaseZip(file, members.first(members.size() - 1));
  if (!zip) return zip.error();
  const uint64_t index = members.back().index;
  if (index >= (*zip)->entries()) {
    return Error{ErrorCode::kNotReadable, "the zip changed since it was listed", "", std::nullopt};
  }
  return (*zip)->ReadAll((*zip)->Member(index));
}

std::optional<Error> Load(ZipShelf& shelf, const std::string& file,
                          std::span<const Member> within) {
  const std::scoped_lock lock(shelf.loading);
  if (shelf.bytes) return std::nullopt;
  if (within.empty()) {
    auto mapped = MappedFile::Open(file);
    if (!mapped) return mapped.error();
    shelf.bytes = std::make_shared<MappedUnit>(std::move(*mapped));
    return std::nullopt;
  }
  auto expanded = ExpandMember(file, within);
  if (!expanded) return expanded.error();
  shelf.memory.store(expanded->view().size());
  shelf.bytes = std::make_shared<ExpandedUnit>(std::move(*expanded));
  return std::nullopt;
}

}  // namespace

ZipLease::ZipLease(std::shared_ptr<ZipShelf> shelf, std::unique_ptr<Zip> zip)
    : shelf_(std::move(shelf)), zip_(std::move(zip)) {}

ZipLease::ZipLease(ZipLease&&) noexcept = default;

ZipLease::~ZipLease() {
  if (zip_) ThePool().GiveBack(*shelf_, std::move(zip_));
}

Result<ZipLease> LeaseZip(const std::string& file, std::span<const Member> within) {
  const auto key = KeyOf(file, within);
  if (!key) return key.error();
  std::shared_ptr<ZipShelf> shelf = ThePool().Shelf(*key);
  std::unique_ptr<Zip> zip = ThePool().TakeIdle(*shelf);
  if (!zip) {
    if (auto error = Load(*shelf, file, within)) return *error;
    auto opened = Zip::Open(shelf->bytes);
    if (!opened) return opened.error();
    zip = std::make_unique<Zip>(std::move(*opened));
  }
  return ZipLease(std::move(shelf), std::move(zip));
}

Result<std::unique_ptr<UnitBytes>> MapUnit(const std::string& file) {
  auto mapped = MappedFile::Open(file);
  if (!mapped) return mapped.error();
  return std::unique_ptr<UnitBytes>(std::make_unique<MappedUnit>(std::move(*mapped)));
}

Result<std::unique_ptr<UnitBytes>> ExpandUnit(const std::string& file,
                                              std::span<const Member> members) {
  auto bytes = ExpandMember(file, members);
  if (!bytes) return bytes.error();
  return std::unique_ptr<UnitBytes>(std::make_unique<ExpandedUnit>(std::move(*bytes)));
}

}  // namespace cuproof
