#pragma once
#include "driver_types.h"
#include "state.h"

namespace cuproof::inject {

enum class ImageKind : uint8_t { kUnknown, kCubin, kFatbin, kPtx, kPath };

/// What a load call was given, found out before the call: the driver may free or change it.
struct ImageView {
  ImageKind kind = ImageKind::kUnknown;
  const void* bytes = nullptr;
  uint64_t size = 0;    // 0: not known
  char file[512] = "";  // that the bytes are mapped from, or that the program named
  uint64_t offset = 0;  // in that file
};

/// Looks at the image at `bytes` (a cubin, fatbin, fatbin wrapper or PTX text) without trusting it:
/// what cannot be read leaves it unknown.
ImageView LookAtImage(const void* bytes);

/// An image that the program named by path.
ImageView LookAtPath(const char* path);

/// The parameters of a JIT, to read the error log from afterwards.
struct JitOptions {
  uint32_t count = 0;
  const uint32_t* keys = nullptr;
  void* const* values = nullptr;
};

/// Gives the image an id and writes its event; copies it where that was asked for, or where the
/// load failed and the bytes lie in no file. Returns the id, 0 past the bound.
uint32_t RecordImage(const ImageView& image, const char* api, int result, uint64_t ns,
                     const void* module, const JitOptions& options);

/// After a launch failed: copies the image, if its bytes are still what was loaded.
void KeepImage(uint32_t image);

/// Copies at most `size` bytes from any address; returns how many could be read.
size_t SafeRead(void* to, const void* from, size_t size);

const char* ImageKindWord(ImageKind kind);

}  // namespace cuproof::inject
