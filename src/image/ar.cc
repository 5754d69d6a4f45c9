#include "image/ar.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "image/host_elf.h"

namespace cuproof {
namespace {

constexpr uint64_t kMagicSize = 8;
constexpr uint64_t kHeaderSize = 60;
constexpr size_t kMaxName = 256;
constexpr size_t kMaxMembers = 1'000'000;

std::string_view Trimmed(std::string_view field) {
  while (!field.empty() && field.back() == ' ') field.remove_suffix(1);
  return field;
}

std::optional<uint64_t> Number(std::string_view field) {
  uint64_t value = 0;
  const std::string_view digits = Trimmed(field);
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end.ec != std::errc() || end.ptr != digits.data() + digits.size()) return std::nullopt;
  return value;
}

}  // namespace

HostObject ReadArchive(ByteView bytes) {
  HostObject host;
  if (bytes.StartsWith("!<thin>\n")) {
    host.damage.push_back({ErrorCode::kUnsupported,
                           "a thin archive names its members and does not hold them: check the .o "
                           "files that it names",
                           "", std::nullopt});
    return host;
  }
  std::string_view long_names;
  uint64_t at = kMagicSize;
  while (at < bytes.size()) {
    if (host.ranges.size() >= kMaxMembers) {
      host.damage.push_back({ErrorCode::kTooLarge,
                             fmt::format("an archive of more than {} members", kMaxMembers), "",
                             at});
      break;
    }
    const auto header = bytes.Slice(at, kHeaderSize);
    const auto size = header ? Number(header->Text().substr(48, 10)) : std::nullopt;
    if (!size || header->Text().substr(58, 2) != "`\n" || !bytes.Holds(at + kHeaderSize, *size)) {
      host.damage.push_back({ErrorCode::kTruncated,
                             "expected the header of an archive member that fits in the file", "",
                             at});
      break;
    }
    std::string_view name = Trimmed(header->Text().substr(0, 16));
    uint64_t body = at + kHeaderSize;
    uint64_t body_size = *size;
    if (name == "//") {
      long_names = bytes.Clamp(body, body_size).Text();
      name = {};
    } else if (name == "/" || name == "/SYM64/") {
      name = {};
    } else if (name.size() > 1 && name[0] == '/') {
      const auto offset = Number(name.substr(1));
      name = offset && *offset < long_names.size() ? long_names.substr(*offset, kMaxName)
                                                   : std::string_view();
      // GNU ends a long name with "/\n", Microsoft with a NUL.
      name = name.substr(0, name.find_first_of(std::string_view("\n\0", 2)));
      if (!name.empty() && name.back() == '/') name.remove_suffix(1);
    } else if (name.substr(0, 3) == "#1/") {
      const uint64_t length = std::min(Number(name.substr(3)).value_or(0), body_size);
      name = bytes.Clamp(body, length).CString(0);
      body += length;
      body_size -= length;
    } else if (!name.empty() && name.back() == '/') {
      name.remove_suffix(1);
    }
    if (!name.empty()) {
      host.ranges.push_back({body, body_size, std::string(name.substr(0, kMaxName))});
      const ByteView member = bytes.Clamp(body, body_size);
      if (member.StartsWith("\x7F"
                            "ELF")) {
        const HostObject object = ReadHostElf(member);
        if (host.machine.empty()) host.machine = object.machine;
        host.registers_fatbin |= object.registers_fatbin;
      }
    }
    at = at + kHeaderSize + *size + (*size & 1);  // members start at even offsets
  }
  return host;
}

}  // namespace cuproof
