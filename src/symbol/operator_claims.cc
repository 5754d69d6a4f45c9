#include "symbol/operator_claims.h"

#include <charconv>
#include <set>

#include "symbol/sections.h"

namespace cuproof {

// torch/library.h and torch/csrc/stable/library.h make a static object of that name for each claim.
// With _FRAGMENT or _IMPL in it, the name stands behind another word.
std::string_view OperatorClaimOf(std::string_view local_name) {
  if (!local_name.starts_with("_ZL")) return {};
  size_t length = 0;
  const char* const end = local_name.data() + local_name.size();
  const auto [text, error] = std::from_chars(local_name.data() + 3, end, length);
  if (error != std::errc() || length > static_cast<size_t>(end - text)) return {};
  std::string_view name(text, length);
  for (const std::string_view prefix :
       {"TORCH_LIBRARY_static_init_", "STABLE_TORCH_LIBRARY_static_init_"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return {};
}

std::vector<std::string> OperatorClaims(ByteView file) {
  std::set<std::string> claims;
  ForEachLocalName(file, [&](std::string_view name) {
    const std::string_view claim = OperatorClaimOf(name);
    if (!claim.empty()) claims.emplace(claim);
  });
  return {claims.begin(), claims.end()};
}

}  // namespace cuproof
