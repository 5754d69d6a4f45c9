// Any bytes as a zip on disk, in a file that lives in memory: its members are listed, those of zips
// within it too, and expanded.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "container/unit.h"
#include "fuzz/require.h"

namespace cuproof {
namespace {

// More would only be slow.
constexpr uint64_t kMaxExpand = 4 << 20;
constexpr size_t kMaxUnits = 32;

void TakeAndOpen(const std::string& path) {
  const Inventory inventory = TakeInventory({path});
  REQUIRE(inventory.roots.size() == 1);
  size_t opened = 0;
  for (const Unit& unit : inventory.units) {
    REQUIRE(unit.root == 0);
    if (unit.size > kMaxExpand || ++opened > kMaxUnits) continue;
    const auto bytes = OpenUnit(unit);
    // A member is exactly as long as was promised, or an error.
    if (bytes) REQUIRE((*bytes)->bytes().size() == unit.size);
    if (!bytes) REQUIRE(!bytes.error().phrase.empty());
  }
}

}  // namespace
}  // namespace cuproof

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int fd = memfd_create("fuzz", MFD_CLOEXEC);
  REQUIRE(fd >= 0);
  REQUIRE(write(fd, data, size) == static_cast<ssize_t>(size));
  cuproof::TakeAndOpen("/proc/self/fd/" + std::to_string(fd));
  close(fd);
  return 0;
}
