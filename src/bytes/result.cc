#include "bytes/result.h"

#include <fmt/format.h>

namespace cuproof {

const char* ErrorCodeText(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
      return "not found";
    case ErrorCode::kNotReadable:
      return "cannot be read";
    case ErrorCode::kNotRegular:
      return "not a regular file";
    case ErrorCode::kTruncated:
      return "truncated";
    case ErrorCode::kBadSize:
      return "a size cannot be true";
    case ErrorCode::kBadMagic:
      return "not the expected format";
    case ErrorCode::kBadCompressed:
      return "compressed bytes are damaged";
    case ErrorCode::kTooLarge:
      return "past a safety bound";
    case ErrorCode::kUnsupported:
      return "not supported";
    case ErrorCode::kUsage:
      return "usage";
  }
  return "unknown error";
}

std::string Error::Text() const {
  std::string text;
  if (!file.empty()) text += file + ": ";
  if (offset) text += fmt::format("at byte {:#x}: ", *offset);
  return text + phrase;
}

}  // namespace cuproof
