#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Fields of a JSON object that somebody else wrote. One that is missing, or of another type, reads
// as nothing: nlohmann's own accessors would throw.
namespace cuproof::trace {

/// No value: there is no such member, or `object` is none.
const nlohmann::json* Member(const nlohmann::json& object, const char* name);

/// 0 for what is no whole number, or out of range.
uint64_t UnsignedOf(const nlohmann::json& value);
int64_t SignedOf(const nlohmann::json& value);
uint64_t Unsigned(const nlohmann::json& object, const char* name);
int64_t Signed(const nlohmann::json& object, const char* name);
/// Ids are small; a larger number is no id.
uint32_t Id(const nlohmann::json& object, const char* name);
bool Flag(const nlohmann::json& object, const char* name);
std::string Text(const nlohmann::json& object, const char* name);
/// The texts of a list; a single text is a list of one.
std::vector<std::string> Texts(const nlohmann::json& object, const char* name);

/// A decimal number that takes the whole text.
std::optional<int64_t> Number(std::string_view text);

}  // namespace cuproof::trace
