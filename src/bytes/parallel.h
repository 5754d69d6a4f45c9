#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace cuproof {

/// Calls work(i) for every i below count on up to `threads` threads, in order of i as threads come
/// free. Put the largest piece first: then no thread is left alone with it at the end.
template <typename Work>
void ParallelFor(size_t count, unsigned threads, const Work& work) {
  std::atomic<size_t> next{0};
  const auto loop = [&] {
    for (size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) work(i);
  };
  std::vector<std::jthread> helpers;
  const size_t wanted = std::min<size_t>(count, threads);
  for (size_t i = 1; i < wanted; ++i) helpers.emplace_back(loop);
  loop();
}

/// The number of processors that this process may use.
unsigned ProcessorCount();

}  // namespace cuproof
