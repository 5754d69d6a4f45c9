#pragma once
#include <string>
#include <string_view>

namespace cuproof {

/// "2.34", "3.4.30": digits and dots; not "PRIVATE".
bool IsNumberedVersion(std::string_view version);

/// Numbers in it count as numbers: 3.4.9 is before 3.4.30. An empty one is before all.
bool VersionBefore(std::string_view a, std::string_view b);

/// Who has a version such as "GLIBC_2.34", "GLIBCXX_3.4.32" or "CXXABI_1.3.15", by
/// data/libc_levels.tsv: "RHEL 9, Ubuntu 22.04, Debian 12 or newer" and, for a compiler's library,
/// "GCC 13.2 or newer". Empty where the table does not know a system with it.
std::string SystemsWith(std::string_view version);

/// "GCC 13.2 or newer" for GLIBCXX_3.4.32; empty for what is no version of libstdc++.
std::string CompilerWith(std::string_view version);

}  // namespace cuproof
