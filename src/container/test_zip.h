#pragma once
#include <zip.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cuproof {

/// A member as written, and what the zip claims about it.
struct RawMember {
  std::string name;
  std::string stored;
  uint16_t method = ZIP_CM_STORE;
  uint64_t claimed_size = UINT64_MAX;  // UINT64_MAX: that of `stored`
  uint16_t flags = 0;                  // 1: encrypted
  bool zip64 = false;                  // sizes in an extra field
  bool wrong_crc = false;
  bool shares_first = false;  // no bytes of its own: points to those of the first member
};

/// A zip put together by hand, so that every claim in it can be a lie. Fields: PKWARE APPNOTE.TXT
/// 6.3.10, 4.3.7, 4.3.12 and 4.3.16.
class RawZip {
 public:
  explicit RawZip(const std::vector<RawMember>& members) {
    std::string directory;
    for (const RawMember& member : members) {
      const uint64_t at = member.shares_first ? 0 : bytes_.size();
      if (!member.shares_first) {
        bytes_ += "PK\x03\x04" + Common(member) + member.name + Extra(member) + member.stored;
      }
      directory += "PK\x01\x02" + Number(20, 2) + Common(member) + Number(0, 2) + Number(0, 8) +
                   Number(at, 4) + member.name + Extra(member);
    }
    bytes_ += directory;
    end_ = bytes_.size();
    const uint64_t count = members.size();
    bytes_ += "PK\x05\x06" + Number(0, 4) + Number(count, 2) + Number(count, 2) +
              Number(directory.size(), 4) + Number(end_ - directory.size(), 4) + Number(0, 2);
  }

  const std::string& bytes() const { return bytes_; }

  /// The same zip with an end record of the 64-bit kind that claims `entries`.
  std::string ClaimEntries(uint64_t entries) const {
    const std::string_view end = std::string_view(bytes_).substr(end_);
    return bytes_.substr(0, end_) + "PK\x06\x06" + Number(44, 8) + Number(45, 2) + Number(45, 2) +
           Number(0, 8) + Number(entries, 8) + Number(entries, 8) + Widen(end.substr(12, 4)) +
           Widen(end.substr(16, 4)) + "PK\x06\x07" + Number(0, 4) + Number(end_, 8) + Number(1, 4) +
           std::string(end);
  }

  static std::string Number(uint64_t value, size_t width) {
    std::string text;
    for (size_t i = 0; i < width; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  }

 private:
  static std::string Widen(std::string_view low) { return std::string(low) + Number(0, 4); }

  // From the flags to the length of the extra field, the same in both headers.
  static std::string Common(const RawMember& member) {
    const uint64_t size = Size(member);
    const uint64_t in_extra = 0xFFFFFFFF;
    return Number(45, 2) + Number(member.flags, 2) + Number(member.method, 2) + Number(0, 4) +
           Number(Crc(member.stored) ^ (member.wrong_crc ? 1 : 0), 4) +
           Number(member.zip64 ? in_extra : member.stored.size(), 4) +
           Number(member.zip64 ? in_extra : size, 4) + Number(member.name.size(), 2) +
           Number(Extra(member).size(), 2);
  }

  static uint64_t Size(const RawMember& member) {
    return member.claimed_size == UINT64_MAX ? member.stored.size() : member.claimed_size;
  }

  static std::string Extra(const RawMember& member) {
    if (!member.zip64) return {};
    return Number(1, 2) + Number(16, 2) + Number(Size(member), 8) + Number(member.stored.size(), 8);
  }

  static uint32_t Crc(std::string_view bytes) {
    uint32_t crc = 0xFFFFFFFF;
    for (const char c : bytes) {
      crc ^= static_cast<uint8_t>(c);
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320 : 0);
    }
    return ~crc;
  }

  std::string bytes_;
  size_t end_ = 0;
};

/// Writes a zip as libzip does: deflated, encrypted where there is a password.
inline bool WriteZip(const std::string& path, const std::vector<RawMember>& members,
                     const char* password = nullptr) {
  zip_t* zip = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  if (!zip) return false;
  for (const RawMember& member : members) {
    zip_source_t* source = zip_source_buffer(zip, member.stored.data(), member.stored.size(), 0);
    const zip_int64_t at = zip_file_add(zip, member.name.c_str(), source, 0);
    if (at < 0) return false;
    const auto index = static_cast<zip_uint64_t>(at);
    zip_set_file_compression(zip, index, ZIP_CM_DEFLATE, 6);
    if (password) zip_file_set_encryption(zip, index, ZIP_EM_AES_256, password);
  }
  return zip_close(zip) == 0;
}

}  // namespace cuproof
