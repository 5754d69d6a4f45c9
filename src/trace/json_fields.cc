#include "trace/json_fields.h"

#include <charconv>

namespace cuproof::trace {

using nlohmann::json;

const json* Member(const json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

uint64_t UnsignedOf(const json& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  if (!value.is_number_integer()) return 0;
  const auto number = value.get<int64_t>();
  return number > 0 ? static_cast<uint64_t>(number) : 0;
}

int64_t SignedOf(const json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    return number <= INT64_MAX ? static_cast<int64_t>(number) : 0;
  }
  return value.is_number_integer() ? value.get<int64_t>() : 0;
}

uint64_t Unsigned(const json& object, const char* name) {
  const json* member = Member(object, name);
  return member ? UnsignedOf(*member) : 0;
}

int64_t Signed(const json& object, const char* name) {
  const json* member = Member(object, name);
  return member ? SignedOf(*member) : 0;
}

uint32_t Id(const json& object, const char* name) {
  const uint64_t value = Unsigned(object, name);
  return value <= UINT32_MAX ? static_cast<uint32_t>(value) : 0;
}

bool Flag(const json& object, const char* name) {
  const json* member = Member(object, name);
  return member && SignedOf(*member) != 0;
}

std::string Text(const json& object, const char* name) {
  const json* member = Member(object, name);
  return member && member->is_string() ? member->get<std::string>() : std::string();
}

std::vector<std::string> Texts(const json& object, const char* name) {
  std::vector<std::string> texts;
  const json* member = Member(object, name);
  if (!member) return texts;
  if (member->is_string()) texts.push_back(member->get<std::string>());
  if (!member->is_array()) return texts;
  for (const json& text : *member) {
    if (text.is_string()) texts.push_back(text.get<std::string>());
  }
  return texts;
}

std::optional<int64_t> Number(std::string_view text) {
  int64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end.ec != std::errc() || end.ptr != text.data() + text.size())
    return std::nullopt;
  return value;
}

}  // namespace cuproof::trace
