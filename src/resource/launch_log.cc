#include "resource/launch_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>

#include "resource/log_lines.h"

namespace cuproof {
namespace {

constexpr size_t kNearby = 10;  // lines before and after a failure that may tell its block
constexpr size_t kMaxFailures = 1000;
constexpr size_t kShownText = 300;

constexpr std::array<std::string_view, 4> kOutOfResources = {
    "too many resources requested for launch",
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
    "cudaErrorLaunchOutOfResources",
    "ERROR_LAUNCH_OUT_OF_RESOURCES",
};
constexpr std::string_view kTriton = "out of resource: shared memory, Required:";

bool HasAny(std::string_view line) {
  return std::any_of(kOutOfResources.begin(), kOutOfResources.end(), [&](std::string_view words) {
    return line.find(words) != std::string_view::npos;
  });
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The product of the numbers behind `at`, separated by , x and spaces: "(32, 8, 1)" or "512".
uint32_t ThreadsAt(std::string_view line, size_t at) {
  uint64_t threads = 1;
  size_t numbers = 0;
  while (at < line.size() && (line[at] == ' ' || line[at] == '=' || line[at] == ':' ||
                              line[at] == '(' || line[at] == '[' || line[at] == '{'))
    ++at;
  while (at < line.size() && IsDigit(line[at]) && numbers < 3) {
    uint32_t number = 0;
    const char* const end = line.data() + line.size();
    const auto [next, error] = std::from_chars(line.data() + at, end, number);
    if (error != std::errc() || number == 0 || number > 1024) return 0;
    threads *= number;
    ++numbers;
    at = static_cast<size_t>(next - line.data());
    while (at < line.size() && (line[at] == ',' || line[at] == ' ' || line[at] == 'x')) ++at;
  }
  return numbers > 0 && threads <= 1024 ? static_cast<uint32_t>(threads) : 0;
}

// "blockDim=(256,1,1)", "block: 32 x 8", "threads per block: 512", "num_warps: 8"
uint32_t ThreadsOf(std::string_view line) {
  struct Form {
    std::string_view words;
    uint32_t each;
  };
  constexpr Form kForms[] = {{"threads per block", 1},
                             {"threads_per_block", 1},
                             {"threadsPerBlock", 1},
                             {"blockDim", 1},
                             {"block_dim", 1},
                             {"block_size", 1},
                             {"blockSize", 1},
                             {"block size", 1},
                             {"block=", 1},
                             {"block:", 1},
                             {"block (", 1},
                             {"block(", 1},
                             {"num_warps", 32}};
  for (const Form& form : kForms) {
    const size_t at = line.find(form.words);
    if (at == std::string_view::npos) continue;
    const size_t behind = at + form.words.size() - (form.words.back() == '(' ? 1 : 0);
    const uint32_t threads = ThreadsAt(line, behind) * form.each;
    if (threads > 0 && threads <= 1024) return threads;
  }
  return 0;
}

struct Line {
  uint64_t number;
  uint32_t threads;
};

}  // namespace

bool LooksLikeLaunchFailure(std::string_view text) {
  if (text.substr(0, 4096).find('\0') != std::string_view::npos) return false;
  return HasAny(text) || text.find(kTriton) != std::string_view::npos;
}

std::vector<LaunchFailure> ReadLaunchFailures(std::string_view text) {
  std::vector<LaunchFailure> failures;
  std::deque<Line> before;
  ForEachLogLine(text, [&](uint64_t number, std::string_view line) {
    const uint32_t threads = ThreadsOf(line);
    const bool triton = line.find(kTriton) != std::string_view::npos;
    if ((HasAny(line) || triton) && failures.size() < kMaxFailures) {
      LaunchFailure failure;
      failure.line = number;
      failure.text = line.substr(0, kShownText);
      if (triton) {
        failure.shared_required = NumberAfter(line, "Required:").value_or(0);
        failure.shared_limit = NumberAfter(line, "Hardware limit:").value_or(0);
      }
      failure.threads = threads;
      failure.threads_line = number;
      for (auto near = before.rbegin(); near != before.rend() && failure.threads == 0; ++near) {
        failure.threads = near->threads;
        failure.threads_line = near->number;
      }
      failures.push_back(std::move(failure));
    } else if (threads && !failures.empty() && failures.back().threads == 0 &&
               number <= failures.back().line + kNearby) {
      failures.back().threads = threads;
      failures.back().threads_line = number;
    }
    before.push_back({number, threads});
    if (before.size() > kNearby) before.pop_front();
  });
  return failures;
}

}  // namespace cuproof
