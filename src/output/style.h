#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cuproof {

enum class ColorMode : uint8_t { kAuto, kAlways, kNever };

/// "auto", "always", "never".
std::optional<ColorMode> ParseColorMode(std::string_view text);

enum class Tone : uint8_t {
  kPlain,
  kBold,
  kDim,
  kRed,
  kGreen,
  kYellow,
  kCyan,
  kBoldRed,
  kBoldGreen,
  kBoldYellow,
  kBoldCyan,
};

/// How text for people is written.
struct Style {
  bool color = false;
  bool terminal = false;  // a person looks: long paths are cut to fit; in a pipe they stay whole
  bool verbose = false;   // everything instead of the first few
  size_t width = 100;     // columns
};

/// What a stream is, as far as its look depends on it.
struct Stream {
  bool terminal = false;
  size_t columns = 0;     // 0: not known
  bool no_color = false;  // NO_COLOR is set and not empty
  bool dumb = false;      // TERM=dumb
};

/// Asks the system about file descriptor `fd`, and the environment.
Stream LookAtStream(int fd);

/// Colour when wanted, or when a person at a terminal that can show it has not declined.
Style ChooseStyle(ColorMode mode, const Stream& stream, bool verbose);

/// `text`, which is already escaped, in a tone.
std::string Paint(const Style& style, Tone tone, std::string_view text);

}  // namespace cuproof
