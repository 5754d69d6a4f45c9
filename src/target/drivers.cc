#include <fmt/format.h>

#include "target/facts.h"
#include "target/table.h"
#include "target/target.h"

namespace cuproof {
namespace {

Error Usage(std::string_view text) {
  return {ErrorCode::kUsage,
          fmt::format("--driver: expected a driver number such as 580.95.05 or a CUDA version such "
                      "as 13.0, got '{}'",
                      text),
          "", std::nullopt};
}

// A release with a compiler (12.8), or one whose PTX only drivers have (12.7). What is older or
// newer than the tables is not for them to deny.
bool IsRelease(Version cuda) {
  if (cuda > NewestCuda() || FirstDriverOf(cuda)) return true;
  const Table& table = Table::Get("ptx_isa");
  for (size_t i = 0; i < table.size(); ++i) {
    if (ParseVersion(table.At(i, "cuda")) == cuda) return true;
    if (ParseVersion(table.At(i, "cuda_last")) == cuda) return true;
  }
  return false;
}

}  // namespace

std::string DriverName(const Driver& driver) {
  const bool by_cuda = driver.branch == 0 || driver.text == VersionText(driver.cuda);
  return (by_cuda ? "a driver for CUDA " : "driver ") + driver.text;
}

Driver DriverFromCuda(Version cuda) {
  Driver driver;
  driver.text = VersionText(cuda);
  driver.cuda = cuda;
  if (cuda > NewestCuda()) {
    driver.newer_than_data = true;
    driver.cuda = NewestCuda();
    return driver;
  }
  // The branch of a release that the table lacks is that of the release before it.
  for (Version at = cuda; at.known(); --at.minor) {
    if (const FirstDriver* first = FirstDriverOf(at)) {
      driver.branch = first->branch;
      driver.parts = {first->branch};
      break;
    }
    if (at.minor == 0) break;
  }
  return driver;
}

Result<Driver> FindDriver(std::string_view text) {
  constexpr uint32_t kLowestBranch = 100;  // CUDA versions are far below, driver branches above
  std::string_view number = text;
  if (!number.empty() && (number[0] == 'r' || number[0] == 'R')) number.remove_prefix(1);
  Driver driver;
  driver.text = number;
  for (const std::string_view part : SplitList(number, '.')) {
    const bool digits =
        !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    if (!digits || part.size() > 6) return Usage(text);
    driver.parts.push_back(ParseNumber(part));
  }
  if (driver.parts.size() > 3) return Usage(text);
  driver.branch = driver.parts[0];
  if (driver.branch < kLowestBranch) {
    const Version cuda = driver.parts.size() == 1
                             ? Version{static_cast<uint16_t>(driver.parts[0]), 0}
                             : ParseVersion(number);
    if (!cuda.known() || cuda.major < 5) return Usage(text);
    if (!IsRelease(cuda)) {
      return Error{ErrorCode::kUsage, fmt::format("--driver: there is no CUDA {}", number), "",
                   std::nullopt};
    }
    return DriverFromCuda(cuda);
  }
  driver.cuda = CudaOfBranch(driver.branch);
  driver.newer_than_data = driver.branch > NewestBranch();
  if (!driver.cuda.known()) return Usage(text);
  return driver;
}

}  // namespace cuproof
