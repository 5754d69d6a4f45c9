#pragma once
#include <memory>
#include <span>
#include <string>

#include "bytes/result.h"
#include "container/unit.h"
#include "container/zip.h"

namespace cuproof {

struct ZipShelf;

/// An open zip that is ours until the lease ends; then it waits for the next one who wants it.
/// Units come by size, so a folder of wheels is read criss-cross: reading a directory of 16,000
/// members again for each would cost more than the members.
class ZipLease {
 public:
  ZipLease(std::shared_ptr<ZipShelf> shelf, std::unique_ptr<Zip> zip);
  ZipLease(ZipLease&&) noexcept;
  ZipLease(const ZipLease&) = delete;
  ZipLease& operator=(ZipLease&&) = delete;
  ~ZipLease();
  const Zip& operator*() const { return *zip_; }
  const Zip* operator->() const { return zip_.get(); }

 private:
  std::shared_ptr<ZipShelf> shelf_;
  std::unique_ptr<Zip> zip_;
};

/// Opens the zip `file`, or the zip that is the member of a zip … `within` it; from any thread. The
/// bytes of a file, and the expanded bytes of a zip within a zip, are shared by all leases.
Result<ZipLease> LeaseZip(const std::string& file, std::span<const Member> within);

/// A file as it lies on disk, mapped.
Result<std::unique_ptr<UnitBytes>> MapUnit(const std::string& file);

/// A member, expanded into memory of its own.
Result<std::unique_ptr<UnitBytes>> ExpandUnit(const std::string& file,
                                              std::span<const Member> members);

}  // namespace cuproof
