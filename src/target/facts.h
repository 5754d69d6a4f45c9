#pragma once
#include <optional>
#include <string>
#include <vector>

#include "image/image.h"
#include "target/target.h"

namespace cuproof {

// Typed access to the tables of data/. No value means that the tables do not say.

/// A row of archs.tsv.
struct ArchFact {
  uint32_t sm = 0;
  std::string name;  // "Hopper"
  Platform platform = Platform::kUnknown;
  Version first_cuda;               // first toolkit that can target it
  Version last_cuda;                // last one that can; unknown: still targeted
  uint32_t renamed_from = 0;        // 110 was 101 before CUDA 13.0
  uint32_t last_driver_branch = 0;  // 0: still served, or not known
  std::string example;              // the product shown in tables
};

const std::vector<ArchFact>& ArchFacts();
const ArchFact* FindArch(uint32_t sm);

/// The number that an architecture has today: 101 -> 110.
uint32_t CurrentSm(uint32_t sm);

/// True when the family target `f` (100 for 100f) covers `sm`. No value: `f` is not in the tables.
std::optional<bool> InFamily(uint32_t f, uint32_t sm);

/// The first PTX ISA that accepts `.target`.
std::optional<Version> FirstIsa(Arch target);

/// The first toolkit that writes PTX of this ISA, and the driver branch that came with it.
struct IsaFact {
  Version isa;
  Version cuda;
  uint32_t branch = 0;  // 0: unknown
};
const IsaFact* FindIsa(Version isa);
/// The newest PTX ISA that a driver of this CUDA version accepts.
Version NewestIsaOf(Version cuda);

/// The first driver of a toolkit release (13.0: 580.65.06), and of everything that a toolkit of
/// this major can build except PTX (minor-version compatibility).
struct FirstDriver {
  Version cuda;
  uint32_t branch = 0;
  std::string number;
};
const FirstDriver* FirstDriverOf(Version cuda);
const FirstDriver* MinorCompatibilityFloor(uint16_t major);

/// The newest CUDA of the tables whose first driver's branch is at most `branch`.
Version CudaOfBranch(uint32_t branch);
uint32_t NewestBranch();
Version NewestCuda();

/// True when the tables list `arch` among the targets of that toolkit's nvcc.
bool NvccTargets(Version cuda, Arch arch);

/// First branch that reads zstd images.
uint32_t ZstdBranch();

}  // namespace cuproof
