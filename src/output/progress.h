#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "output/style.h"

namespace cuproof {

/// How far the work is, in one line of at most `width` columns.
struct ProgressState {
  uint64_t bytes = 0;
  uint64_t total_bytes = 0;
  uint64_t files = 0;
  uint64_t total_files = 0;
};
std::string ProgressLine(const ProgressState& state, const Style& style);

/// A progress bar for work that lasts: it shows after one second, and is gone at the end. Without a
/// terminal it does nothing, not even start its thread.
class Progress {
 public:
  struct Output {
    bool enabled = false;
    Style style;
    std::function<void(std::string_view)> write;
    std::chrono::milliseconds delay{1000};
    std::chrono::milliseconds period{100};
  };

  /// On standard error.
  Progress(uint64_t total_bytes, uint64_t total_files);
  Progress(uint64_t total_bytes, uint64_t total_files, Output output);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// From any thread.
  void AddBytes(uint64_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void AddFile() { files_.fetch_add(1, std::memory_order_relaxed); }

  /// Erases the bar. Later counts are not shown.
  void Finish();

 private:
  void Loop();

  const uint64_t total_bytes_;
  const uint64_t total_files_;
  Output output_;
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> files_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread painter_;
};

}  // namespace cuproof
