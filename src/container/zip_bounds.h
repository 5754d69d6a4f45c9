#pragma once
#include <cstdint>
#include <optional>

#include "bytes/result.h"
#include "bytes/view.h"
#include "container/zip.h"

namespace cuproof {

/// Looks at the end of a zip before libzip does, which allocates what the end record claims and
/// reads a whole directory for each record. An error: cut short, or past a bound.
std::optional<Error> CheckZipEnd(ByteView bytes);

/// Why a member is not worth opening, told from what the directory says: encrypted, a compression
/// that this libzip does not read, a bomb.
std::optional<Error> CheckMember(const ZipMember& member);

}  // namespace cuproof
