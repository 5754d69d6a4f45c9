#include "container/zip.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "container/zip_bounds.h"

namespace cuproof {
namespace {

// libzip 1.7.3 counts wrongly what it inflates in one call where 4 GiB or more are asked for; and
// the CRC is taken while a small piece is still in the cache.
constexpr uint64_t kPiece = 1 << 20;

struct ZipError {
  ZipError() { zip_error_init(&error); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  ~ZipError() { zip_error_fini(&error); }
  zip_error_t error;
};

struct CloseFile {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using OpenMember = std::unique_ptr<zip_file_t, CloseFile>;

Error NotOpened(zip_error_t* error) {
  const bool contradicts = zip_error_code_zip(error) == ZIP_ER_INCONS;
  return {contradicts ? ErrorCode::kBadSize : ErrorCode::kBadMagic,
          fmt::format("zip whose central directory cannot be read: {}", zip_error_strerror(error)),
          "", std::nullopt};
}

}  // namespace

Result<Zip> Zip::Open(std::shared_ptr<const UnitBytes> bytes) {
  const ByteView view = bytes->bytes();
  if (const auto error = CheckZipEnd(view)) return *error;
  ZipError error;
  zip_source_t* source = zip_source_buffer_create(view.data(), view.size(), 0, &error.error);
  if (!source) return NotOpened(&error.error);
  zip_t* zip = zip_open_from_source(source, ZIP_RDONLY, &error.error);
  if (!zip) {
    zip_source_free(source);
    return NotOpened(&error.error);
  }
  const auto entries = static_cast<uint64_t>(zip_get_num_entries(zip, 0));
  Zip opened(std::move(bytes), zip, entries);
  // An end record of the old form counts modulo 65536, so only the directory itself knows.
  if (entries <= kMaxZipEntries) return opened;
  return Error{ErrorCode::kTooLarge,
               fmt::format("zip with {} members, more than {}", entries, kMaxZipEntries), "",
               std::nullopt};
}

ZipMember Zip::Member(uint64_t index) const {
  ZipMember member;
  member.index = index;
  zip_stat_t status;
  if (zip_stat_index(zip_.get(), index, 0, &status) != 0) return member;
  member.name = status.name;
  member.size = status.size;
  member.stored = status.comp_size;
  member.method = status.comp_method;
  member.encrypted = status.encryption_method != ZIP_EM_NONE;
  member.folder = !member.name.empty() && member.name.back() == '/';
  return member;
}

Error Zip::MemberError(zip_error_t* error) const {
  if (bytes_->changed()) {
    return {ErrorCode::kNotReadable, "the zip changed while it was read", "", std::nullopt};
  }
  switch (zip_error_code_zip(error)) {
    case ZIP_ER_CRC:
      return {ErrorCode::kBadCompressed, "the member's CRC-32 does not match", "", std::nullopt};
    case ZIP_ER_INCONS:
      return {ErrorCode::kBadSize, "the member's size is not what the zip says", "", std::nullopt};
    case ZIP_ER_EOF:
      return {ErrorCode::kTruncated, "the member ends before its size says", "", std::nullopt};
    default:
      return {ErrorCode::kBadCompressed,
              fmt::format("the member cannot be expanded: {}", zip_error_strerror(error)), "",
              std::nullopt};
  }
}

Result<Buffer> Zip::ReadHead(const ZipMember& member, uint64_t limit) const {
  if (auto error = CheckMember(member)) return *error;
  const OpenMember file(zip_fopen_index(zip_.get(), member.index, 0));
  if (!file) return MemberError(zip_get_error(zip_.get()));
  auto head = Buffer::OfSize(std::min(limit, member.size));
  if (!head) return head;
  const zip_int64_t got = zip_fread(file.get(), head->data(), head->view().size());
  if (got < 0) return MemberError(zip_file_get_error(file.get()));
  head->Shrink(static_cast<uint64_t>(got));
  return head;
}

Result<Buffer> Zip::ReadAll(const ZipMember& member) const {
  if (auto error = CheckMember(member)) return *error;
  const OpenMember file(zip_fopen_index(zip_.get(), member.index, 0));
  if (!file) return MemberError(zip_get_error(zip_.get()));
  auto all = Buffer::OfSize(member.size);
  if (!all) return all;
  uint64_t done = 0;
  while (done < member.size) {
    const uint64_t piece = std::min(kPiece, member.size - done);
    const zip_int64_t got = zip_fread(file.get(), all->data() + done, piece);
    if (got < 0) return MemberError(zip_file_get_error(file.get()));
    if (got == 0) {
      return Error{
          ErrorCode::kBadCompressed,
          fmt::format("the member expands to {} bytes where the zip says {}", done, member.size),
          "", std::nullopt};
    }
    done += static_cast<uint64_t>(got);
  }
  // libzip compares CRC and size when it meets the end of the data, which takes one more read.
  uint8_t extra = 0;
  const zip_int64_t more = zip_fread(file.get(), &extra, 1);
  if (more < 0) return MemberError(zip_file_get_error(file.get()));
  if (more > 0) {
    return Error{
        ErrorCode::kBadCompressed,
        fmt::format("the member expands to more than the {} bytes that the zip says", member.size),
        "", std::nullopt};
  }
  if (bytes_->changed()) {
    return Error{ErrorCode::kNotReadable, "the zip changed while it was read", "", std::nullopt};
  }
  return all;
}

}  // namespace cuproof
