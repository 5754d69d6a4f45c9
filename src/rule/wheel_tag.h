#pragma once
#include <string>
#include <vector>

#include "container/unit.h"
#include "rule/report.h"

namespace cuproof {

/// What the name of a wheel says: pip goes by it alone (PEP 425, PEP 427).
struct WheelTags {
  std::vector<std::string> pythons;    // "cp312"
  std::vector<std::string> abis;       // "cp312", "abi3", "none"
  std::vector<std::string> platforms;  // "manylinux_2_28_x86_64"
};

/// Of "…/torch-2.6.0-cp312-cp312-manylinux_2_28_x86_64.whl"; nothing for other names.
WheelTags TagsOf(const std::string& path);

/// A Python module of a wheel, by its file's name.
struct WheelModule {
  uint32_t root = 0;
  std::string shown;
  std::string member;   // "pkg/_C.cpython-312-x86_64-linux-gnu.so"
  std::string machine;  // as in HostObject: "x86-64"
  std::vector<std::string> needed;
};

/// Whether `member` is named as only a Python module is: with an ABI in it.
bool IsModuleName(const std::string& member);

/// CP314, for modules that cannot be loaded wherever pip installs their wheel. `names`: the members
/// of all roots as they are shown; one of the right name beside a wrong one is what is imported.
void AddTagFindings(const std::vector<Root>& roots, const std::vector<WheelModule>& modules,
                    const std::vector<std::string>& names, std::vector<Finding>& findings);

}  // namespace cuproof
