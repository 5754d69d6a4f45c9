#include "output/progress.h"

#include <gtest/gtest.h>

#include <vector>

#include "output/layout.h"

namespace cuproof {
namespace {

using std::chrono::milliseconds;

// What the bar writes, in a place that its thread and the test share.
struct Screen {
  std::mutex mutex;
  std::condition_variable changed;
  std::string text;

  Progress::Output Output(milliseconds delay) {
    Progress::Output output;
    output.enabled = true;
    output.delay = delay;
    output.period = milliseconds(1);
    output.write = [this](std::string_view part) {
      const std::lock_guard lock(mutex);
      text += part;
      changed.notify_all();
    };
    return output;
  }

  bool WaitFor(std::string_view part) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(30),
                            [&] { return text.find(part) != std::string::npos; });
  }
};

TEST(Progress, ShowsAndErases) {
  Screen screen;
  Progress progress(1000, 4, screen.Output(milliseconds(0)));
  std::vector<std::thread> workers;
  workers.reserve(4);
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&] {
      progress.AddBytes(250);
      progress.AddFile();
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_TRUE(screen.WaitFor("100 %  1.0 KB of 1.0 KB, 4 of 4 files"));
  progress.Finish();
  progress.Finish();
  EXPECT_EQ(screen.text.substr(screen.text.size() - 4), "\r\x1b[K");
}

TEST(Progress, ShortWorkShowsNothing) {
  Screen screen;
  {
    Progress progress(1000, 4, screen.Output(std::chrono::hours(1)));
    progress.AddBytes(1000);
  }
  EXPECT_EQ(screen.text, "");
}

TEST(Progress, SilentInAPipe) {
  Screen screen;
  Progress::Output output = screen.Output(milliseconds(0));
  output.enabled = false;
  Progress progress(1000, 4, output);
  progress.AddBytes(1000);
  progress.Finish();
  EXPECT_EQ(screen.text, "");
}

TEST(ProgressLine, Fits) {
  Style style;
  for (const size_t width : {40u, 60u, 80u, 160u}) {
    style.width = width;
    const std::string line = ProgressLine({3'100'000'000, 6'700'000'000, 212, 1204}, style);
    EXPECT_LT(DisplayWidth(line), width) << line;
  }
  EXPECT_EQ(ProgressLine({5, 10, 1, 2}, style),
            "[===============>              ]  50 %  5 bytes of 10 bytes, 1 of 2 files");
}

TEST(ProgressLine, NeverPastTheEnd) {
  Style style;
  EXPECT_NE(ProgressLine({20, 10, 2, 2}, style).find("100 %"), std::string::npos);
  EXPECT_NE(ProgressLine({0, 0, 1, 2}, style).find(" 50 %"), std::string::npos);
  EXPECT_NE(ProgressLine({0, 0, 0, 0}, style).find("100 %"), std::string::npos);
}

}  // namespace
}  // namespace cuproof
