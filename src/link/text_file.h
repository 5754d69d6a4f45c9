#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace cuproof {

/// The text of a small file; empty where there is none. Bounded: these files are input.
std::string ReadSmallFile(const std::string& path, size_t limit = 4 << 20);

/// Without blanks at both ends.
std::string_view Trimmed(std::string_view text);

/// "key = value" lines, as pyvenv.cfg has them: the value of a key, or empty.
std::string ValueOf(std::string_view text, std::string_view key);

/// The entries of a folder by name, at most `limit` of them; empty where it is none.
std::vector<std::string> ListFolder(const std::string& path, size_t limit = 100'000);

/// folder/name
std::string JoinPath(std::string_view folder, std::string_view name);

bool IsFolder(const std::string& path);
bool IsFile(const std::string& path);

}  // namespace cuproof
