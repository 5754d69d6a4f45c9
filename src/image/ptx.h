#pragma once
#include <optional>

#include "bytes/result.h"
#include "bytes/view.h"
#include "image/image.h"

namespace cuproof {

/// The directives that open a PTX text.
struct PtxHeader {
  Version isa;  // .version
  Arch target;  // .target sm_90a -> {90, 'a'}
  uint32_t address_size = 0;
};

/// True when text, after blank lines and comments, starts with .version.
bool LooksLikePtx(ByteView bytes);

/// The whole text, without the NUL padding behind it: what stops any assembler, whatever the
/// target. A NUL inside, braces that do not close, 32-bit addresses (r580 refuses them: tests/gpu).
std::optional<Error> CheckPtxText(ByteView bytes);

/// True when the text defines an entry or a function.
bool PtxHasCode(ByteView bytes);

/// Reads .version, .target and, if it follows, .address_size. The text may be cut behind them.
Result<PtxHeader> ReadPtxHeader(ByteView bytes);

}  // namespace cuproof
