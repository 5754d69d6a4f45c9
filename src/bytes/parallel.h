#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace cuproof {

/// Calls work(i) for every i below count on up to `threads` threads, in order of i as threads come
/// free. Put the largest piece first: then no thread is left alone with it at the end. An exception
/// of `work` (no memory) ends the loop and is thrown here.
template <typename Work>
void ParallelFor(size_t count, unsigned threads, const Work& work) {
  std::atomic<size_t> next{0};
  std::exception_ptr failure;
  std::once_flag failed;
  const auto loop = [&] {
    try {
      for (size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) work(i);
    } catch (...) {
      next.store(count);
      std::call_once(failed, [&] { failure = std::current_exception(); });
    }
  };
  {
    std::vector<std::jthread> helpers;
    const size_t wanted = std::min<size_t>(count, threads);
    try {
      for (size_t i = 1; i < wanted; ++i) helpers.emplace_back(loop);
    } catch (const std::system_error&) {
      // A limit on threads: those that there are do the work.
    }
    loop();
  }
  if (failure) std::rethrow_exception(failure);
}

/// The number of processors that this process may use.
unsigned ProcessorCount();

}  // namespace cuproof
