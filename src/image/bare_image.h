#pragma once
#include <cstdint>

#include "image/cubin.h"
#include "image/file_images.h"

namespace cuproof {

/// An image that is no entry of a container: it begins where its bytes begin.
Image BareImage(ImageKind kind, uint64_t offset, uint64_t size);

/// Takes kind, target, ABI and toolkit from the cubin itself.
void ApplyCubin(const CubinInfo& info, Image& image);

/// Adds it as a module of its own.
void AddBareImage(FileImages& file, ModuleKind kind, Image image);

}  // namespace cuproof
