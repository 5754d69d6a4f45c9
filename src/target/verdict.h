#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "image/file_images.h"
#include "target/driver_floor.h"
#include "target/target.h"

namespace cuproof {

enum class Outcome : uint8_t { kRunsSass, kRunsJit, kDoesNotRun, kUnknown };

/// "runs", "runs after JIT", "does not run", "unknown".
const char* OutcomeText(Outcome outcome);
/// "sass", "jit", "no", "unknown": the words of the JSON output.
const char* OutcomeId(Outcome outcome);

/// Why a module does not run, with the error that the driver or the runtime gives.
enum class Reason : uint8_t {
  kNone,
  kNoImage,        // 209: nothing in it fits this GPU
  kPtxTooNew,      // 222: only PTX fits, and its ISA is newer than the driver
  kPtxInvalid,     // 218: the PTX names a target that its ISA version does not have
  kPtxTarget,      // 218: a PTX text alone, for a target that this GPU does not serve
  kRuntimeTooNew,  // 35: the CUDA major of the file is newer than the driver
  kZstdOldDriver,  // 200: compressed with zstd, driver branch below 550
  kDamaged,        // the image that would be taken is damaged: 200, 218 or another
  kGpuDropped,     // this driver branch no longer serves this GPU
  kLtoOnly,        // 209 when loaded as it is: LTO-IR must be linked by nvJitLink first
  kNoKernels,      // nothing to run in it: images of a translation unit without kernels
  kNewerThanData,  // a GPU, a target or a driver that the tables do not know
};

/// The CUDA error number of a reason; 0 when it has none.
int ReasonError(Reason reason);
const char* ReasonId(Reason reason);

/// The verdict of one module (a container or a bare image) on one GPU.
struct ModuleVerdict {
  Outcome outcome = Outcome::kUnknown;
  Reason reason = Reason::kNone;
  int64_t image = -1;  // index in FileImages::images: the one taken, or the nearest miss
  DriverFloor floor;   // to run at all
};

/// The verdict of one file on one GPU: it runs when at least one of its modules does.
struct FileVerdict {
  Outcome outcome = Outcome::kUnknown;
  Reason reason = Reason::kNone;
  int64_t image = -1;
  DriverFloor floor;  // of what runs: the highest that any running module asks for
  uint32_t sass_modules = 0;
  uint32_t jit_modules = 0;
  uint32_t failed_modules = 0;  // hold nothing for this GPU
  uint32_t unknown_modules = 0;
  std::vector<uint32_t> failed;   // indices of failed modules, at most 64
  std::vector<uint32_t> too_new;  // all that fail for PTX newer than the driver
};

/// Judges one module.
ModuleVerdict JudgeModule(const FileImages& file, const Module& module, const Gpu& gpu,
                          const std::optional<Driver>& driver);

/// The same for each module of a file, which takes less than one at a time.
std::vector<ModuleVerdict> JudgeModules(const FileImages& file, const Gpu& gpu,
                                        const std::optional<Driver>& driver);

/// Judges a file for one GPU.
FileVerdict JudgeFile(const FileImages& file, const Gpu& gpu, const std::optional<Driver>& driver);

}  // namespace cuproof
