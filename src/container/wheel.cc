#include "container/wheel.h"

namespace cuproof {
namespace {

constexpr std::string_view kFolderEnd = ".dist-info";
constexpr std::string_view kMember = ".dist-info/METADATA";

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool SameName(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if ((a[i] | 0x20) != (b[i] | 0x20)) return false;
  }
  return true;
}

// A field of the header; the header ends at the first empty line (core metadata is an e-mail
// message: PEP 566).
std::string_view Field(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (Trim(line).empty()) return {};
    const size_t colon = line.find(':');
    if (colon != line.npos && SameName(line.substr(0, colon), name)) {
      return Trim(line.substr(colon + 1));
    }
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
  return {};
}

}  // namespace

bool IsWheelMetadata(std::string_view member) {
  return member.size() > kMember.size() &&
         member.substr(member.size() - kMember.size()) == kMember &&
         member.find('/') == member.size() - std::string_view("/METADATA").size();
}

std::string WheelName(std::string_view member, std::string_view metadata) {
  const std::string_view name = Field(metadata, "Name");
  const std::string_view version = Field(metadata, "Version");
  if (!name.empty() && !version.empty()) return std::string(name) + ' ' + std::string(version);
  std::string folder(member.substr(0, member.find(kFolderEnd)));
  const size_t dash = folder.find('-');
  if (dash != folder.npos) folder[dash] = ' ';
  return folder;
}

}  // namespace cuproof
