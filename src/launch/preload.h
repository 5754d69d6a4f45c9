#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "link/search.h"

namespace cuproof::launch {

/// What the loader would preload without us.
struct Preloads {
  std::string variable;  // LD_PRELOAD as it is
  std::string system;    // the text of /etc/ld.so.preload
};

Preloads ReadPreloads();

/// The entries of an LD_PRELOAD: blanks and colons part them.
std::vector<std::string> SplitPreload(std::string_view text);

/// Sentences on what is preloaded besides. An error where one of them stands in for the driver
/// already: two shims would each take the other for the driver.
Result<std::vector<std::string>> CheckPreloads(const Preloads& preloads,
                                               const Environment& environment, FileCache& files);

/// LD_PRELOAD with the shim before what was there.
std::string WithShim(const std::string& shim, const std::string& variable);

/// Whether LD_PRELOAD can name a path: the loader parts it at blanks and colons, and expands `$`.
bool CanBePreloaded(std::string_view path);

}  // namespace cuproof::launch
