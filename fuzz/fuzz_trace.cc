// PID.ring and PID.jsonl: the file of a process that was killed can end anywhere, and another
// process may be writing to it. An input is a ring file, then a NUL-terminated mark, then the event
// lines.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/require.h"
#include "trace/reader.h"

using namespace cuproof;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ByteView bytes(data, size);
  constexpr std::string_view kMark("\0events\n", 8);
  const size_t mark = bytes.Text().find(kMark);
  const bool both = mark != std::string_view::npos;
  // Events alone start with their brace, as most inputs that are worth trying do.
  const ByteView ring = both ? bytes.Clamp(0, mark) : bytes;
  const ByteView events = both ? bytes.Clamp(mark + kMark.size(), size) : bytes;
  std::vector<Error> problems;
  const trace::Process process = trace::ReadProcess("7", ring, events, problems);
  for (const Error& problem : problems) REQUIRE(!problem.phrase.empty());
  for (const auto& [id, function] : process.functions) REQUIRE(id == function.id);
  if (process.ring) {
    const trace::RingFile& file = *process.ring;
    REQUIRE(file.calls.size() * sizeof(trace::Record) <= ring.size());
    REQUIRE(file.rings.size() * sizeof(trace::RingHeader) <= ring.size());
    for (const trace::Call& call : file.calls) {
      REQUIRE(call.record.sequence == static_cast<uint32_t>(call.number + 1));
    }
  }
  return 0;
}
