#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

namespace cuproof {

static_assert(std::endian::native == std::endian::little, "readers load little-endian fields");

/// Bytes that somebody else owns. Every access is checked: an offset or a length out of range gives
/// no value, however large, so a hostile header can never lead outside.
class ByteView {
 public:
  constexpr ByteView() = default;
  constexpr ByteView(const uint8_t* data, uint64_t size) : data_(data), size_(size) {}
  explicit ByteView(std::string_view text)
      : data_(reinterpret_cast<const uint8_t*>(text.data())), size_(text.size()) {}

  const uint8_t* data() const { return data_; }
  uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  bool Holds(uint64_t offset, uint64_t length) const {
    return offset <= size_ && length <= size_ - offset;
  }

  std::optional<ByteView> Slice(uint64_t offset, uint64_t length) const {
    if (!Holds(offset, length)) return std::nullopt;
    return ByteView(data_ + offset, length);
  }

  /// The bytes from offset on, at most length of them; empty past the end.
  ByteView Clamp(uint64_t offset, uint64_t length) const {
    if (offset >= size_) return {};
    return {data_ + offset, length < size_ - offset ? length : size_ - offset};
  }

  /// A little-endian value at any alignment.
  template <typename T>
  std::optional<T> Load(uint64_t offset) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!Holds(offset, sizeof(T))) return std::nullopt;
    T value;
    std::memcpy(&value, data_ + offset, sizeof(T));
    return value;
  }

  bool StartsWith(std::string_view prefix) const {
    return Text().substr(0, prefix.size()) == prefix;
  }

  std::string_view Text() const { return {reinterpret_cast<const char*>(data_), size_}; }

  /// The text up to a NUL or the end of the view.
  std::string_view CString(uint64_t offset) const {
    if (offset >= size_) return {};
    std::string_view rest = Text().substr(offset);
    return rest.substr(0, rest.find('\0'));
  }

 private:
  const uint8_t* data_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace cuproof
