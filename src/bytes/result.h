#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace cuproof {

/// What went wrong with an input. Each has a half-line meaning in ErrorCodeText.
enum class ErrorCode {
  kNotFound,       // no such file, or it vanished
  kNotReadable,    // permission, I/O error, or it changed while we read it
  kNotRegular,     // socket, FIFO, device
  kTruncated,      // ends before a size in a header says
  kBadSize,        // a size or offset in a header cannot be true
  kBadMagic,       // not the format it was taken for
  kBadCompressed,  // compressed bytes that do not expand to what the header says
  kTooLarge,       // past a bound that protects this machine
  kUnsupported,    // a valid form that this version does not read
  kUsage,          // an argument that means nothing
};

const char* ErrorCodeText(ErrorCode code);

/// One problem with one input: where it is (the file and, in it, the byte), and a phrase for people
/// that says what was expected and what was found.
struct Error {
  ErrorCode code = ErrorCode::kBadSize;
  std::string phrase;
  std::string file;
  std::optional<uint64_t> offset;

  /// "file: at byte 0x40: phrase", without the parts that are not known. Not escaped.
  std::string Text() const;
};

/// A value or an Error; the only way that a function of ours reports failure.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() { return *std::get_if<0>(&state_); }
  const T& value() const { return *std::get_if<0>(&state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return *std::get_if<1>(&state_); }
  Error& error() { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace cuproof
