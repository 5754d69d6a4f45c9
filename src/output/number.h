#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace cuproof {

/// "23,984".
std::string Thousands(uint64_t value);

/// "1 file", "1,204 files".
std::string Count(uint64_t value, std::string_view singular, std::string_view plural = {});

/// "512 bytes", "17.5 KB", "6.1 GB": powers of 1000, as disks and downloads are counted.
std::string HumanBytes(uint64_t bytes);

/// "4 ms", "0.42 s", "12 s", "3 min 20 s".
std::string HumanSeconds(double seconds);

/// The sum, or the largest number: sizes that a hostile header claims must not wrap to small ones.
constexpr uint64_t SaturatingAdd(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

}  // namespace cuproof
