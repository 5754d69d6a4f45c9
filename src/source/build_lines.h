#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "image/image.h"
#include "source/source_file.h"

namespace cuproof {

/// A line of a build file without its comment.
struct BuildLine {
  std::string text;
  uint32_t line = 0;         // from 1
  bool conditional = false;  // within an if, or one of a choice: it may be for another release
};

/// The lines that say something: comments, and in Python texts that stand alone, are left out.
std::vector<BuildLine> ReadBuildLines(const SourceFile& file);

/// How a build file writes its list, so that a fix can be written in the same way.
enum class ArchSyntax : uint8_t { kGencode, kTorchList, kCmakeList };

/// One architecture that a build file asks for.
struct ArchRequest {
  Arch arch;
  bool ptx = false;  // PTX for it, besides or instead of SASS
  bool sass = false;
  uint32_t line = 0;
  bool conditional = false;
  ArchSyntax syntax = ArchSyntax::kGencode;
};

struct ArchRequests {
  std::vector<ArchRequest> archs;
  /// Something else may add to the list: a variable in it, "all", "native".
  bool open = false;
};

/// `-gencode arch=compute_90,code=sm_90`, `-arch=sm_90`, TORCH_CUDA_ARCH_LIST, and
/// CMAKE_CUDA_ARCHITECTURES with what a target's CUDA_ARCHITECTURES says.
ArchRequests ReadArchRequests(const std::vector<BuildLine>& lines);

}  // namespace cuproof
