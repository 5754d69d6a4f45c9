#pragma once
#include <cstdint>

#include "bytes/view.h"

namespace cuproof {

/// What the first bytes of a file or a member say about it.
enum class Content : uint8_t {
  kProgram,  // ELF, PE, archive, fatbin, cubin, PTX, GPU core dump: read in full
  kZip,      // read member by member
  kData,     // binary of no kind that we know: a container may lie anywhere in it
  kOther,    // text, or a format that holds no device code: left alone
};

/// This many first bytes decide. A file with a container has a NUL among them, text has none.
inline constexpr uint64_t kHeadSize = 4096;

/// Unknown data up to this size is searched for containers. Larger files are model weights and data
/// sets, which would take longer than everything else together.
inline constexpr uint64_t kMaxUnknownData = 256ull << 20;

/// Decides by the first bytes of something that is `size` bytes long.
Content TellContent(ByteView head, uint64_t size);

}  // namespace cuproof
