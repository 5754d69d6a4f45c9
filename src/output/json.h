#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "bytes/result.h"
#include "image/image.h"

namespace cuproof {

using Json = nlohmann::ordered_json;

/// The text of a value. Pure ASCII, so that it can be shown on a terminal; bytes that are not UTF-8
/// come out as U+FFFD instead of an exception. `indent` -1 writes one line.
std::string DumpJson(const Json& value, int indent);

/// `text` in quotes, as DumpJson writes it, quickly where nothing needs an escape.
std::string JsonText(std::string_view text);

/// {"code", "file", "offset", "phrase"}; file and offset are null when they are not known.
Json ErrorJson(const Error& error);

/// "not-found", "truncated": stable words for programs.
const char* ErrorCodeId(ErrorCode code);

/// "13.0", or null when it is not known.
Json VersionJson(Version version);

}  // namespace cuproof
