#include "bytes/parallel.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <vector>

namespace cuproof {
namespace {

TEST(ParallelFor, DoesEachPieceOnce) {
  for (const unsigned threads : {0u, 1u, 2u, 7u, 64u}) {
    for (const size_t count : {size_t{0}, size_t{1}, size_t{5}, size_t{1000}}) {
      std::vector<std::atomic<int>> done(count);
      ParallelFor(count, threads, [&](size_t i) { ++done[i]; });
      for (size_t i = 0; i < count; ++i) EXPECT_EQ(done[i], 1) << i << " of " << count;
    }
  }
}

TEST(ParallelFor, OneThreadWorksInOrderAndAsTheCaller) {
  std::vector<size_t> order;
  std::set<std::thread::id> ids;
  ParallelFor(5, 1, [&](size_t i) {
    order.push_back(i);
    ids.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(ids, std::set{std::this_thread::get_id()});
}

TEST(ParallelFor, TakesNoMoreThreadsThanPieces) {
  std::mutex mutex;
  std::set<std::thread::id> ids;
  ParallelFor(2, 64, [&](size_t) {
    const std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  EXPECT_LE(ids.size(), 2u);
}

TEST(ParallelFor, HasDoneAllWhenItReturns) {
  std::atomic<size_t> sum = 0;
  ParallelFor(10'000, 8, [&](size_t i) { sum += i; });
  EXPECT_EQ(sum, 10'000u * 9'999 / 2);
}

TEST(ProcessorCount, IsAtLeastOne) { EXPECT_GE(ProcessorCount(), 1u); }

}  // namespace
}  // namespace cuproof
