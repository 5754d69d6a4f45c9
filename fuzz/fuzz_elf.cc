// Any bytes as the host side of a file: ELF, PE, archive.
#include "fuzz/require.h"
#include "image/host_object.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuproof;
  const ByteView bytes(data, size);
  DetectFileKind(bytes);
  for (const FileKind kind : {FileKind::kElf, FileKind::kPe, FileKind::kArchive, FileKind::kData}) {
    const HostObject host = ReadHostObject(kind, bytes);
    uint64_t end = 0;
    for (const NamedRange& range : host.ranges) {
      REQUIRE(range.offset >= end && range.size > 0);
      REQUIRE(range.offset <= size && range.size <= size - range.offset);
      end = range.offset + range.size;
      REQUIRE(&RangeAt(host.ranges, range.offset) == &range.name);
      REQUIRE(&RangeAt(host.ranges, end - 1) == &range.name);
    }
    REQUIRE(RangeAt(host.ranges, end).empty());
    NeededRuntimeMajor(host);
  }
  return 0;
}
