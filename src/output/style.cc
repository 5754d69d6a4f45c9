#include "output/style.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace cuproof {
namespace {

constexpr size_t kPipeWidth = 100;
constexpr size_t kNarrowest = 40;
constexpr size_t kWidest = 160;  // longer lines of prose are hard to read

const char* Sequence(Tone tone) {
  switch (tone) {
    case Tone::kPlain:
      return "";
    case Tone::kBold:
      return "\x1b[1m";
    case Tone::kDim:
      return "\x1b[2m";
    case Tone::kRed:
      return "\x1b[31m";
    case Tone::kGreen:
      return "\x1b[32m";
    case Tone::kYellow:
      return "\x1b[33m";
    case Tone::kCyan:
      return "\x1b[36m";
    case Tone::kBoldRed:
      return "\x1b[1;31m";
    case Tone::kBoldGreen:
      return "\x1b[1;32m";
    case Tone::kBoldYellow:
      return "\x1b[1;33m";
    case Tone::kBoldCyan:
      return "\x1b[1;36m";
  }
  return "";
}

}  // namespace

std::optional<ColorMode> ParseColorMode(std::string_view text) {
  if (text == "auto") return ColorMode::kAuto;
  if (text == "always") return ColorMode::kAlways;
  if (text == "never") return ColorMode::kNever;
  return std::nullopt;
}

Stream LookAtStream(int fd) {
  Stream stream;
  stream.terminal = isatty(fd) == 1;
  winsize size{};
  if (stream.terminal && ioctl(fd, TIOCGWINSZ, &size) == 0) stream.columns = size.ws_col;
  const char* no_color = std::getenv("NO_COLOR");
  stream.no_color = no_color != nullptr && *no_color != 0;
  const char* term = std::getenv("TERM");
  stream.dumb = term != nullptr && std::string_view(term) == "dumb";
  return stream;
}

Style ChooseStyle(ColorMode mode, const Stream& stream, bool verbose) {
  Style style;
  style.terminal = stream.terminal;
  style.verbose = verbose;
  style.color = mode == ColorMode::kAlways ||
                (mode == ColorMode::kAuto && stream.terminal && !stream.no_color && !stream.dumb);
  const bool measured = stream.terminal && stream.columns != 0;
  style.width = measured ? std::clamp(stream.columns, kNarrowest, kWidest) : kPipeWidth;
  return style;
}

std::string Paint(const Style& style, Tone tone, std::string_view text) {
  if (!style.color || tone == Tone::kPlain || text.empty()) return std::string(text);
  std::string out = Sequence(tone);
  out += text;
  out += "\x1b[0m";
  return out;
}

}  // namespace cuproof
