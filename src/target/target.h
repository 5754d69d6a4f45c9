#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/result.h"
#include "image/image.h"

namespace cuproof {

enum class Platform : uint8_t { kUnknown, kDesktop, kTegra };

/// A GPU to run on: an architecture, and the product that stands for it in tables.
struct Gpu {
  uint32_t sm = 0;      // 90
  std::string product;  // "H200"; empty when only the architecture was named
  std::string chip;     // "GH100"
  Platform platform = Platform::kUnknown;
  bool in_data = true;   // false: newer than our tables, only exact facts are claimed
  bool present = false;  // found in this machine
};

/// "sm_90".
std::string GpuTarget(const Gpu& gpu);

/// A driver as a number, its branch, and the CUDA version that it serves natively.
struct Driver {
  std::string text;             // "580.95.05", or "13.0" as the user gave it
  uint32_t branch = 0;          // 580
  std::vector<uint32_t> parts;  // {580, 95, 5}; one part when only the branch is known
  Version cuda;  // newest CUDA (and so PTX) that it knows; unknown: newer than our data
  bool newer_than_data = false;
};

/// What to judge against.
struct Target {
  std::vector<Gpu> gpus;
  bool named = false;  // by --gpu, or present in this machine: coverage matters
  std::optional<Driver> driver;
  std::optional<Version> cuda;     // --cuda
  std::vector<std::string> notes;  // what was found out about this machine, for people
};

/// `text` is "sm_90", "90", "9.0", "compute_90", or a product name in any spelling. "all" gives one
/// GPU for each architecture. An unknown name gives an error with the nearest names.
Result<std::vector<Gpu>> FindGpus(std::string_view text);

/// One representative GPU per architecture of the tables, lowest first. `tegra` includes Jetson
/// parts.
std::vector<Gpu> AllGpus(bool tegra);

/// `text` is a driver number ("580.95.05", "580", "r580") or a CUDA version ("13.0").
Result<Driver> FindDriver(std::string_view text);

/// "driver 580.95.05", or "a driver for CUDA 13.0" where only that is known.
std::string DriverName(const Driver& driver);

/// A driver as the kernel module or cuDriverGetVersion told it.
Driver DriverFromCuda(Version cuda);

/// What is in this machine: the driver from the kernel module's own text or from libcuda.so.1, GPUs
/// through NVML. Both libraries are opened at run time; without them the target has neither.
Target ThisMachine();

}  // namespace cuproof
