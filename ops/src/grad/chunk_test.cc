#include "grad/chunk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace cuproof::ops {
namespace {

std::vector<int64_t> Edges() {
  std::vector<int64_t> sizes = {0, 1, 2, 3};
  for (const int64_t middle :
       {int64_t{1} << 15, int64_t{1} << 16, int64_t{3} << 15, int64_t{1} << 26, int64_t{5} << 26,
        int64_t{1} << 31, int64_t{1} << 32, int64_t{1} << 40, kMaxElements}) {
    for (int64_t size = middle - 2; size <= std::min(middle + 2, kMaxElements); ++size) {
      sizes.push_back(size);
    }
  }
  return sizes;
}

// Written once more, without chunk.h: the definition of the sums may not move unseen.
int64_t ChunkOf(int64_t elements) { return elements < 67108864 ? 32768 : 131072; }

TEST(Chunk, SizeIsPartOfTheDefinitionOfTheSums) {
  for (const int64_t elements : Edges()) {
    ASSERT_EQ(int64_t{1} << ChunkShift(elements), ChunkOf(elements)) << elements;
  }
}

// Neighbouring chunks meet, the first begins at 0, the last ends at the end: each element is in
// one.
void ExpectEachElementOnce(int64_t elements, uint32_t from, uint32_t to) {
  for (uint32_t chunk = from; chunk < to; ++chunk) {
    const Span span = ChunkSpan(elements, chunk);
    ASSERT_EQ(span.begin, static_cast<int64_t>(chunk) * ChunkOf(elements)) << elements;
    const bool last = chunk + 1 == ChunkCount(elements);
    ASSERT_EQ(span.size, last ? elements - span.begin : ChunkOf(elements)) << elements;
    ASSERT_GT(span.size, 0) << elements;
  }
}

TEST(Chunk, EachElementIsInExactlyOneChunk) {
  for (const int64_t elements : Edges()) {
    const int64_t chunks = ChunkCount(elements);
    ASSERT_EQ(chunks, elements / ChunkOf(elements) + (elements % ChunkOf(elements) != 0));
    ASSERT_LT(chunks, int64_t{1} << 31);
    const auto end = static_cast<uint32_t>(chunks);
    ExpectEachElementOnce(elements, 0, std::min(end, 5u));
    ExpectEachElementOnce(elements, end - std::min(end, 5u), end);
  }
}

TEST(Chunk, EachElementIsInExactlyOneChunkOfRandomSizes) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2'000'000; ++i) {
    const int bits = static_cast<int>(random() % 47);
    const auto elements = static_cast<int64_t>(random() & ((uint64_t{1} << bits) - 1));
    const int64_t chunks = ChunkCount(elements);
    ASSERT_EQ(chunks, (elements + ChunkOf(elements) - 1) / ChunkOf(elements));
    if (chunks == 0) continue;
    const auto chunk = static_cast<uint32_t>(random() % static_cast<uint64_t>(chunks));
    ExpectEachElementOnce(elements, chunk, chunk + 1);
  }
}

TEST(Chunk, TensorOfChunkPassesOverEmptyTensors) {
  std::mt19937_64 random(2);
  int64_t cases = 0;
  for (int round = 0; round < 40000; ++round) {
    const auto count = static_cast<int32_t>(1 + random() % (round % 100 == 0 ? 2032 : 20));
    std::vector<uint32_t> first;
    std::vector<int32_t> owner;
    for (int32_t t = 0; t < count; ++t) {
      first.push_back(static_cast<uint32_t>(owner.size()));
      owner.insert(owner.end(), random() % 3 == 0 ? 0 : random() % 6, t);
    }
    for (uint32_t chunk = 0; chunk < owner.size(); ++chunk, ++cases) {
      const auto first_of = [&](int32_t t) { return first[static_cast<size_t>(t)]; };
      ASSERT_EQ(TensorOfChunk(first_of, count, chunk), owner[chunk]);
    }
  }
  EXPECT_GT(cases, 1'000'000);
}

}  // namespace
}  // namespace cuproof::ops
