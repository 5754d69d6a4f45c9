#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bytes/expand.h"
#include "bytes/result.h"

namespace cuproof {

enum class ImageKind : uint8_t { kPtx, kCubin, kLtoIr, kTileIr, kUnknown };

/// "ptx", "cubin", "lto-ir", "tile-ir", "unknown".
const char* ImageKindName(ImageKind kind);

/// A compute architecture as the field writes it: 90, 90a, 100f. Suffix 0 is the plain target.
struct Arch {
  uint32_t number = 0;
  char suffix = 0;
  auto operator<=>(const Arch&) const = default;
};

/// "90a".
std::string ArchText(Arch arch);

/// A toolkit release or an ISA version: 13.0, 9.1. {0, 0} is unknown.
struct Version {
  uint16_t major = 0;
  uint16_t minor = 0;
  bool known() const { return major != 0; }
  auto operator<=>(const Version&) const = default;
};

/// "13.0", or "unknown".
std::string VersionText(Version version);

/// One device image: an entry of a fatbin container, or a bare cubin, PTX text or zstd frame.
/// Offsets count from the start of the file (or of the wheel or archive member) that holds it.
struct Image {
  ImageKind kind = ImageKind::kUnknown;
  uint16_t raw_kind = 0;  // the number in the entry header; 0 for a bare image
  Arch arch;
  Version version;  // PTX: ISA. cubin: 1.7 or 1.8, the ELF ABI. LTO-IR: NVVM IR version
  Version toolkit;  // cubin: read from the image itself, else unknown
  Compression compression = Compression::kNone;
  bool masked = false;       // LTO-IR masked after compression: cannot be expanded
  bool relocatable = false;  // built with -rdc: takes part in a device link before it can be loaded
  uint64_t flags = 0;        // the entry's, all bits
  uint64_t offset = 0;       // of the entry header, or of the bare image
  uint64_t payload = 0;      // where the stored bytes begin
  uint64_t stored_size = 0;  // bytes as stored, without padding
  uint64_t padded_size = 0;  // header, stored bytes and padding: what the image takes in the file
  uint64_t raw_size = 0;     // expanded; a claim of the header until the image was expanded
  uint32_t module = 0;       // index in FileImages::modules
  std::string identifier;    // source name, with -lineinfo or -G
  std::string options;       // ptxas options to JIT with; for LTO-IR its compile flags
  std::optional<Error> damage;
  // False: a translation unit without kernels leaves images with nothing in them. No value until
  // the image was expanded.
  std::optional<bool> has_code;
};

/// "sm_90a", "compute_90", "lto_75"; "arch_90" for kinds that have no name of their own.
std::string ImageTarget(const Image& image);

enum class ModuleKind : uint8_t { kContainer, kCubin, kPtx, kZstdFrame };

/// What is loaded as one: the images of one container are alternatives of which a driver takes one.
/// A bare image is a module of its own.
struct Module {
  ModuleKind kind = ModuleKind::kContainer;
  uint64_t offset = 0;
  uint64_t size = 0;  // header included
  uint32_t first_image = 0;
  uint32_t image_count = 0;
  bool damaged = false;  // a container whose entries do not fill it: FileImages::damage says where
  std::string section;   // of the file that holds it; empty when there is none there
};

}  // namespace cuproof
