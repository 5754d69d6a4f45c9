#pragma once
#include "image/host_object.h"

namespace cuproof {

/// Sections, DT_NEEDED and the fatbin registration import of an ELF file. A damaged table is
/// reported in `damage`; what could be read is kept, since the scan for images needs none of it.
HostObject ReadHostElf(ByteView bytes);

}  // namespace cuproof
