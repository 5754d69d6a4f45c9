#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "bytes/result.h"
#include "bytes/view.h"
#include "image/image.h"

namespace cuproof {

/// What the header of a cubin and its notes say. Layout: docs/formats.md, checked on cubins of
/// CUDA 11.5 to 13.1.
struct CubinInfo {
  uint8_t abi = 0;  // 7 or 8
  uint32_t sm = 0;
  std::optional<bool> suffix_a;  // no value: this cubin does not tell
  bool suffix_f = false;         // only from the command line in a note; false does not mean no
  bool relocatable = false;      // e_type 1
  bool core_dump = false;        // e_type 4
  bool has_code = false;         // a section of instructions; only when the whole cubin was there
  Version toolkit;
};

/// True when the bytes start like a cubin: ELF64, little-endian, machine 190 (EM_CUDA).
bool LooksLikeCubin(ByteView bytes);

/// Reads the cubin at the start of `bytes`. `bytes` may be only its first part: then what stands
/// behind its end is not known, and that is no error. `whole` demands that everything the header
/// points to is there.
Result<CubinInfo> ReadCubin(ByteView bytes, bool whole);

/// Where the cubin at the start of `bytes` ends by its own header. Its section table comes last.
uint64_t CubinExtent(ByteView bytes);

}  // namespace cuproof
