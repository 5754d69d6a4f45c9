#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "bytes/view.h"
#include "image/image.h"

namespace cuproof {

enum class FileKind : uint8_t {
  kElf,
  kPe,
  kArchive,
  kFatbin,
  kCubin,
  kCoreDump,
  kPtx,
  kZip,
  kData
};

/// "ELF", "PE", "archive", …
const char* FileKindName(FileKind kind);

/// Told by the first bytes, never by the name.
FileKind DetectFileKind(ByteView bytes);

/// A named stretch of a file: a section, or a member of an archive.
struct NamedRange {
  uint64_t offset = 0;
  uint64_t size = 0;
  std::string name;
};

/// The host side of a file, as far as the question "which GPU, which driver" needs it.
struct HostObject {
  std::string machine;  // "x86-64", "aarch64"; empty when the file has no host code that we know
  std::vector<NamedRange> ranges;   // by offset; they do not overlap
  std::vector<std::string> needed;  // DT_NEEDED
  std::string soname;               // DT_SONAME
  bool registers_fatbin = false;    // names __cudaRegisterFatBinary: host code of a CUDA program
  std::vector<Error> damage;
};

/// Reads ELF64 (x86-64, aarch64 and others by number), PE section names, and ar members.
HostObject ReadHostObject(FileKind kind, ByteView bytes);

/// The range that holds `offset`, or an empty name.
const std::string& RangeAt(const std::vector<NamedRange>& ranges, uint64_t offset);

/// The CUDA major that DT_NEEDED asks for through libcudart.so.N; 0 when it does not.
uint16_t NeededRuntimeMajor(const HostObject& host);

}  // namespace cuproof
