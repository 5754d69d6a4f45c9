// Any bytes as a cubin: whole, cut short, and with more behind it.
#include "fuzz/require.h"
#include "image/cubin.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuproof;
  const ByteView bytes(data, size);
  const auto whole = ReadCubin(bytes, true);
  const auto part = ReadCubin(bytes, false);
  // A demand can only turn an answer into an error.
  REQUIRE(!whole || part);
  if (whole) {
    REQUIRE(LooksLikeCubin(bytes));
    REQUIRE(whole->sm == part->sm && whole->abi == part->abi && whole->toolkit == part->toolkit);
    REQUIRE(CubinExtent(bytes) <= size);
  } else {
    REQUIRE(!whole.error().phrase.empty());
  }
  // A prefix may know less, and must not know better.
  const auto prefix = ReadCubin(bytes.Clamp(0, size / 2), false);
  if (prefix && part) REQUIRE(prefix->sm == part->sm && prefix->abi == part->abi);
  return 0;
}
