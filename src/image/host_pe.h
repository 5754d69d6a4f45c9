#pragma once
#include "image/host_object.h"

namespace cuproof {

/// Section names of a Windows PE file, cut to 8 letters as PE stores them (".nv_fatb").
HostObject ReadHostPe(ByteView bytes);

}  // namespace cuproof
