#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace cuproof {

/// Calls `visit` with each line of a build's output and its number from 1: without colours, without
/// carriage returns, and cut to kMaxLogLine.
void ForEachLogLine(std::string_view text,
                    const std::function<void(uint64_t, std::string_view)>& visit);

/// The longest mangled name in libtorch_cuda.so 2.9 takes 4 KB.
inline constexpr size_t kMaxLogLine = 65536;

/// What stands between the quotes that follow `before`; no value where the second one is missing.
std::optional<std::string_view> QuotedAfter(std::string_view line, std::string_view before);

/// The number right before `what`, as in "8 bytes smem"; no value where there is none that fits.
std::optional<uint32_t> NumberBefore(std::string_view line, std::string_view what);

/// The number right behind `what`.
std::optional<uint32_t> NumberAfter(std::string_view line, std::string_view what);

}  // namespace cuproof
