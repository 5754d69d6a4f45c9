#include "output/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace cuproof {

std::string DumpJson(const Json& value, int indent) {
  return value.dump(indent, ' ', true, Json::error_handler_t::replace);
}

std::string JsonText(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
  });
  if (!plain) return DumpJson(Json(text), -1);
  std::string out;
  out.reserve(text.size() + 2);
  return out.append(1, '"').append(text).append(1, '"');
}

Json ErrorJson(const Error& error) {
  Json json;
  json["code"] = ErrorCodeId(error.code);
  json["file"] = error.file.empty() ? Json(nullptr) : Json(error.file);
  json["offset"] = error.offset ? Json(*error.offset) : Json(nullptr);
  json["phrase"] = error.phrase;
  return json;
}

const char* ErrorCodeId(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
      return "not-found";
    case ErrorCode::kNotReadable:
      return "not-readable";
    case ErrorCode::kNotRegular:
      return "not-regular";
    case ErrorCode::kTruncated:
      return "truncated";
    case ErrorCode::kBadSize:
      return "bad-size";
    case ErrorCode::kBadMagic:
      return "bad-magic";
    case ErrorCode::kBadCompressed:
      return "bad-compressed";
    case ErrorCode::kTooLarge:
      return "too-large";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kUsage:
      break;
  }
  return "usage";
}

Json VersionJson(Version version) {
  return version.known() ? Json(VersionText(version)) : Json(nullptr);
}

}  // namespace cuproof
