#include "grad/page.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "grad/grad_accumulate.h"

namespace cuproof::ops {
namespace {

struct List {
  std::vector<void*> data;
  std::vector<int64_t> elements;
  std::vector<uint8_t> dtype;

  void Add(int64_t size, int type, uint64_t address) {
    data.push_back(reinterpret_cast<void*>(address));
    elements.push_back(size);
    dtype.push_back(static_cast<uint8_t>(type));
  }
  cuproof_ops_tensor_list get() const {
    return {data.data(), elements.data(), dtype.data(), static_cast<int64_t>(data.size())};
  }
};

// Walks all pages as the kernels do: every element of every tensor once, in order, and nothing
// else.
template <int kCapacity>
void ExpectPagesCover(const List& list) {
  const auto page = std::make_unique<Page<kCapacity>>();
  const auto count = static_cast<int64_t>(list.data.size());
  int64_t next = 0;
  int pages = 0;
  do {
    const int64_t begin = next;
    next = FillPage(list.get(), begin, page.get());
    ++pages;
    ASSERT_EQ(page->first_tensor, begin);
    ASSERT_EQ(page->count, next - begin);
    ASSERT_LE(page->count, kCapacity);
    ASSERT_LE(static_cast<int64_t>(page->chunks()), kMaxPageChunks);
    if (next < count && page->count < kCapacity) {
      // Left for the next page only because the chunks would be too many.
      const int64_t more = ChunkCount(list.elements[static_cast<size_t>(next)]);
      ASSERT_GT(page->chunks() + more, kMaxPageChunks);
    }
    uint32_t chunk = 0;
    for (int32_t t = 0; t < page->count; ++t) {
      const auto in_list = static_cast<size_t>(begin + t);
      ASSERT_EQ(page->elements(t), list.elements[in_list]);
      ASSERT_EQ(page->entry[t].address(), list.data[in_list]);
      ASSERT_EQ(page->entry[t].dtype(), list.dtype[in_list]);
      const uint32_t chunks = page->chunks_of(t);
      int64_t covered = 0;
      for (uint32_t c = 0; c < chunks; ++c, ++chunk) {
        // Of very long tensors the ends tell as much.
        if (c == 4 && chunks > 1000) {
          chunk += chunks - 8;
          c += chunks - 8;
          covered = ChunkSpan(page->elements(t), c).begin;
        }
        ASSERT_EQ(page->tensor_of_chunk(chunk), t);
        const Span span = ChunkSpan(page->elements(t), chunk - page->first_chunk(t));
        ASSERT_EQ(span.begin, covered);
        ASSERT_GT(span.size, 0);
        covered += span.size;
      }
      ASSERT_EQ(covered, list.elements[in_list]);
    }
    ASSERT_EQ(chunk, page->chunks());
  } while (next < count);
  ASSERT_EQ(next, count);
  if (count > 0) {
    ASSERT_GE(pages, (count + kCapacity - 1) / kCapacity);
  }
}

TEST(Page, NoTensors) {
  Page<16> page;
  EXPECT_EQ(FillPage(List{}.get(), 0, &page), 0);
  EXPECT_EQ(page.count, 0);
  EXPECT_EQ(page.chunks(), 0u);
}

TEST(Page, HighestAddressTypeAndSize) {
  List list;
  list.Add(kMaxElements, CUPROOF_OPS_BF16, (uint64_t{1} << 56) - 2);
  list.Add(kMaxElements - 1, CUPROOF_OPS_F16, 2);
  list.Add(0, CUPROOF_OPS_F32, 0);
  list.Add((1 << 26) - 1, CUPROOF_OPS_F32, (uint64_t{1} << 56) - 4);
  ExpectPagesCover<16>(list);
}

TEST(Page, FullToTheLastEntryAndOneMore) {
  for (const int count : {15, 16, 17, 31, 32, 33, 256, 257}) {
    List list;
    for (int t = 0; t < count; ++t) list.Add(t % 5 * 20000, t % 3, 0x1000 + 64 * t);
    ExpectPagesCover<16>(list);
    ExpectPagesCover<256>(list);
    ExpectPagesCover<kPagePairs>(list);
    ExpectPagesCover<2032>(list);
  }
}

TEST(Page, MoreChunksThanAGridMayHave) {
  List list;
  for (int t = 0; t < 9; ++t) list.Add(kMaxElements, CUPROOF_OPS_BF16, 0x1000);
  Page<16> page;
  EXPECT_EQ(FillPage(list.get(), 0, &page), 3) << "2^29 chunks each, 2^31 - 1 in a page";
  ExpectPagesCover<16>(list);
}

TEST(Page, RandomListsAreCovered) {
  std::mt19937_64 random(3);
  int64_t tensors = 0;
  for (int round = 0; round < 20000; ++round) {
    List list;
    const uint64_t count = random() % (round % 50 == 0 ? 3000 : 40);
    for (uint64_t t = 0; t < count; ++t) {
      const int bits = static_cast<int>(random() % (random() % 20 == 0 ? 47 : 20));
      const int64_t size =
          random() % 4 == 0 ? 0 : static_cast<int64_t>(random() & ((uint64_t{1} << bits) - 1));
      list.Add(size, static_cast<int>(random() % 3), random() & ((uint64_t{1} << 56) - 4));
    }
    tensors += static_cast<int64_t>(count);
    ExpectPagesCover<16>(list);
    ExpectPagesCover<256>(list);
    if (round % 5 == 0) ExpectPagesCover<2032>(list);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(tensors, 500'000);
}

TEST(Page, FitsTheParametersOfAKernel) {
  EXPECT_EQ(sizeof(PageEntry), 16u);
  EXPECT_LE(sizeof(Page<2032>), 32764u);
  EXPECT_LE(sizeof(PagePair<kPagePairs>), 32764u);
}

}  // namespace
}  // namespace cuproof::ops
