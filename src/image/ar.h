#pragma once
#include "image/host_object.h"

namespace cuproof {

/// The members of an ar archive (.a) as ranges, with GNU and BSD long names. The library that reads
/// archives elsewhere copies members out; here only their places and names are wanted, since images
/// are found by a scan over the whole file. A thin archive holds no members' bytes: that is
/// reported.
HostObject ReadArchive(ByteView bytes);

}  // namespace cuproof
