// Any bytes as a PTX text.
#include "fuzz/require.h"
#include "image/ptx.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuproof;
  const ByteView bytes(data, size);
  const bool looks = LooksLikePtx(bytes);
  const auto header = ReadPtxHeader(bytes);
  if (header) REQUIRE(looks);
  if (!header) REQUIRE(header.error().offset.value_or(0) <= size);
  if (const auto damage = CheckPtxText(bytes)) REQUIRE(!damage->phrase.empty());
  PtxHasCode(bytes);
  return 0;
}
