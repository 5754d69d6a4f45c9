#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "bytes/view.h"
#include "image/image.h"

namespace cuproof {

/// Where the next container could start at or after `from`: the magic and a known version. The
/// magic alone is not proof, since code that builds fatbins holds it as an immediate.
std::optional<uint64_t> FindFatbin(ByteView bytes, uint64_t from);

/// Entries of a container that are read. A real one has a few for each target of its build.
inline constexpr size_t kMaxEntries = 500'000;

/// The container at `offset`. A container whose header stands but whose entries do not fill it
/// exactly is damaged: `damage` says where, and the entries before that place are kept.
struct FatbinContainer {
  uint64_t size = 0;  // what it takes in the file, as far as it could be followed
  std::vector<Image> images;
  std::optional<Error> damage;
};

/// No value when this is no container at all: another version, or a header that is too short.
std::optional<FatbinContainer> ReadFatbin(ByteView bytes, uint64_t offset);

}  // namespace cuproof
