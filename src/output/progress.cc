#include "output/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "output/layout.h"
#include "output/number.h"

namespace cuproof {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";

double Share(const ProgressState& state) {
  // Bytes tell more than files; where every file is empty, files must do.
  const bool by_bytes = state.total_bytes > 0;
  const uint64_t total = by_bytes ? state.total_bytes : state.total_files;
  if (total == 0) return 1;
  const uint64_t done = by_bytes ? state.bytes : state.files;
  return std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
}

std::string Bar(double share, size_t width, const Style& style) {
  const auto full = static_cast<size_t>(share * static_cast<double>(width));
  const std::string head = std::string(full, '=') + (full < width ? ">" : "");
  const std::string tail(width - std::min(width, head.size()), ' ');
  return "[" + Paint(style, Tone::kGreen, head) + tail + "]";
}

Progress::Output StandardError() {
  const Stream stream = LookAtStream(STDERR_FILENO);
  Progress::Output output;
  // A terminal that cannot erase a line would be filled with bars.
  output.enabled = stream.terminal && !stream.dumb;
  output.style = ChooseStyle(ColorMode::kAuto, stream, false);
  output.write = [](std::string_view text) {
    // A bar that cannot be written is no reason to stop the work.
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  };
  return output;
}

}  // namespace

std::string ProgressLine(const ProgressState& state, const Style& style) {
  constexpr size_t kWidestBar = 30;
  constexpr size_t kNarrowestBar = 8;
  const double share = Share(state);
  const std::string text = fmt::format(" {:3.0f} %  {} of {}, {} of {} files", share * 100,
                                       HumanBytes(state.bytes), HumanBytes(state.total_bytes),
                                       Thousands(state.files), Thousands(state.total_files));
  const size_t taken = text.size() + 3;  // brackets, and the last column, where a cursor may wrap
  if (style.width < taken + kNarrowestBar) return Elide(text, style.width - 1);
  return Bar(share, std::min(kWidestBar, style.width - taken), style) + text;
}

Progress::Progress(uint64_t total_bytes, uint64_t total_files)
    : Progress(total_bytes, total_files, StandardError()) {}

Progress::Progress(uint64_t total_bytes, uint64_t total_files, Output output)
    : total_bytes_(total_bytes), total_files_(total_files), output_(std::move(output)) {
  if (output_.enabled) painter_ = std::thread([this] { Loop(); });
}

Progress::~Progress() { Finish(); }

void Progress::Finish() {
  if (!painter_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_one();
  painter_.join();
}

void Progress::Loop() {
  std::unique_lock lock(mutex_);
  const auto done = [this] { return done_; };
  if (wake_.wait_for(lock, output_.delay, done)) return;
  do {
    const ProgressState state{bytes_.load(std::memory_order_relaxed), total_bytes_,
                              files_.load(std::memory_order_relaxed), total_files_};
    output_.write(std::string(kEraseLine) + ProgressLine(state, output_.style));
  } while (!wake_.wait_for(lock, output_.period, done));
  output_.write(kEraseLine);
}

}  // namespace cuproof
