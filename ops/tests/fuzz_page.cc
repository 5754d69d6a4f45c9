// libFuzzer: bytes become a list of sizes, types and addresses; its pages must cover it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "grad/page.h"

namespace {

using namespace cuproof::ops;

void Must(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

#define MUST(expression) Must((expression), #expression)

struct List {
  std::vector<void*> data;
  std::vector<int64_t> elements;
  std::vector<uint8_t> dtype;
};

/// 8 bytes a tensor: 48 of size (its bits cut by one more byte), 2 of type.
List Parse(const uint8_t* bytes, size_t size) {
  List list;
  for (size_t at = 0; at + 8 <= size; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + at, 8);
    const int bits = static_cast<int>(word >> 56) % 48;
    uint64_t elements = word & ((uint64_t{1} << bits) - 1);
    if (elements > static_cast<uint64_t>(kMaxElements)) elements = kMaxElements;
    list.elements.push_back(static_cast<int64_t>(elements));
    list.dtype.push_back(static_cast<uint8_t>((word >> 48 & 0xff) % 3));
    list.data.push_back(reinterpret_cast<void*>(word >> 8 & ~uint64_t{3}));
  }
  return list;
}

template <int kCapacity>
void CheckPages(const List& list) {
  const auto page = std::make_unique<Page<kCapacity>>();
  const cuproof_ops_tensor_list view{list.data.data(), list.elements.data(), list.dtype.data(),
                                     static_cast<int64_t>(list.data.size())};
  int64_t next = 0;
  while (next < view.count) {
    const int64_t begin = next;
    next = FillPage(view, begin, page.get());
    MUST(next > begin);
    MUST(page->first_tensor == begin && page->count == next - begin);
    for (int32_t t = 0; t < page->count; ++t) {
      const auto in_list = static_cast<size_t>(begin + t);
      MUST(page->elements(t) == list.elements[in_list]);
      MUST(page->entry[t].address() == list.data[in_list]);
      MUST(page->entry[t].dtype() == list.dtype[in_list]);
      const uint32_t chunks = page->chunks_of(t);
      MUST((chunks == 0) == (list.elements[in_list] == 0));
      if (chunks == 0) continue;
      for (const uint32_t c : {0u, chunks / 2, chunks - 1}) {
        MUST(page->tensor_of_chunk(page->first_chunk(t) + c) == t);
      }
      const Span first = ChunkSpan(page->elements(t), 0);
      const Span last = ChunkSpan(page->elements(t), chunks - 1);
      MUST(first.begin == 0 && first.size > 0 && last.size > 0);
      MUST(last.begin + last.size == page->elements(t));
      if (chunks > 1) {
        MUST(ChunkSpan(page->elements(t), chunks / 2).begin ==
             static_cast<int64_t>(chunks / 2) * first.size);
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const List list = Parse(bytes, size);
  CheckPages<16>(list);
  CheckPages<256>(list);
  CheckPages<2032>(list);
  return 0;
}
