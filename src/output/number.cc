#include "output/number.h"

#include <fmt/format.h>

#include <cmath>

namespace cuproof {

std::string Thousands(uint64_t value) {
  const std::string digits = std::to_string(value);
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string Count(uint64_t value, std::string_view singular, std::string_view plural) {
  if (value == 1) return fmt::format("1 {}", singular);
  if (plural.empty()) return fmt::format("{} {}s", Thousands(value), singular);
  return fmt::format("{} {}", Thousands(value), plural);
}

std::string HumanBytes(uint64_t bytes) {
  if (bytes < 1000) return Count(bytes, "byte");
  constexpr const char* kUnits[] = {"KB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes) / 1000;
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return value < 99.95 ? fmt::format("{:.1f} {}", value, kUnits[unit])
                       : fmt::format("{:.0f} {}", value, kUnits[unit]);
}

std::string HumanSeconds(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "?";
  if (seconds < 0.0995) return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds < 1) return fmt::format("{:.2f} s", seconds);
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<uint64_t>(std::min(seconds + 0.5, 1e15));
  if (whole < 120) return fmt::format("{} s", whole);
  return fmt::format("{} min {} s", Thousands(whole / 60), whole % 60);
}

}  // namespace cuproof
