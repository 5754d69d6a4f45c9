#include "resource/measured_kernel.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <set>
#include <string_view>

namespace cuproof {
namespace {

constexpr size_t kHash = 8;  // hexadecimal digits

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }

// Tokens between underscores that are eight hexadecimal digits:
// "_INTERNAL_0b8b6b5e_4_k_cu_a1b2c3d4".
void HideHashes(std::string& name, size_t start, size_t end) {
  for (size_t at = start; at + kHash < end; ++at) {
    if (name[at] != '_') continue;
    size_t stop = at + 1;
    while (stop < end && IsHex(name[stop])) ++stop;
    const bool whole = stop == end || name[stop] == '_';
    if (whole && stop - at - 1 == kHash) name.replace(at + 1, kHash, kHash, '#');
  }
}

// The identifier that begins at `at` ends where the length before it says.
size_t EndOfIdentifier(const std::string& name, size_t at) {
  size_t start = at;
  while (start > 0 && IsDigit(name[start - 1])) --start;
  size_t length = 0;
  std::from_chars(name.data() + start, name.data() + at, length);
  return length == 0 ? name.size() : at + std::min(length, name.size() - at);
}

// "31CUB_200200_750_800_900_NS" -> "3CUB": a namespace that is all capitals, digits and
// underscores.
void HideRelease(std::string& name, std::string_view library) {
  for (size_t at = name.find(library); at != std::string::npos; at = name.find(library, at + 1)) {
    size_t start = at;
    while (start > 0 && IsDigit(name[start - 1])) --start;
    const size_t end = EndOfIdentifier(name, at);
    const bool whole =
        start < at && std::all_of(name.begin() + static_cast<std::ptrdiff_t>(at),
                                  name.begin() + static_cast<std::ptrdiff_t>(end), [](char c) {
                                    return IsDigit(c) || c == '_' || (c >= 'A' && c <= 'Z');
                                  });
    if (!whole) continue;
    const std::string_view plain = library.substr(0, library.size() - 1);
    const std::string text = std::to_string(plain.size()) + std::string(plain);
    name.replace(start, end - start, text);
    at = start + text.size() - 1;
  }
}

// The folder of a path, with a wheel as one of its folders; "" where there is none.
std::string_view Folder(std::string_view path) {
  const size_t at = path.find_last_of("/!");
  return at == std::string_view::npos ? std::string_view() : path.substr(0, at);
}

std::string_view LastPart(std::string_view path) {
  return path.substr(path.find_last_of("/!") + 1);
}

// Puts one folder more before the names that several files have.
bool AddFolders(std::map<std::string, std::string>& names,
                std::map<std::string, std::string_view>& folders) {
  std::map<std::string, std::set<std::string_view>> shared;
  for (const auto& [path, name] : names) shared[name].insert(folders[path]);
  bool added = false;
  for (auto& [path, name] : names) {
    std::string_view& folder = folders[path];
    if (shared.at(name).size() < 2 || folder.empty()) continue;
    name = std::string(LastPart(folder)) + '/' + name;
    folder = Folder(folder);
    added = true;
  }
  return added;
}

}  // namespace

std::string StableName(const std::string& mangled) {
  std::string name = mangled;
  for (const std::string_view mark : {"_GLOBAL__N__", "_INTERNAL_", "__nv_static_"}) {
    for (size_t at = name.find(mark); at != std::string::npos; at = name.find(mark, at + 1)) {
      HideHashes(name, at + mark.size() - 1, EndOfIdentifier(name, at));
    }
  }
  for (const std::string_view library : {"CUB_", "THRUST_"}) HideRelease(name, library);
  return name;
}

std::string StableFile(const std::string& path) {
  std::string name = path.substr(path.find_last_of("/!") + 1);
  const size_t so = name.find(".so");
  if (so == std::string::npos) return name;
  for (const std::string_view tag : {".cpython-", ".cp3", ".abi3"}) {
    const size_t at = name.find(tag);
    if (at != std::string::npos && at < so) {
      name.erase(at, so - at);
      break;
    }
  }
  return name;
}

std::map<std::string, std::string> StableFiles(const std::vector<MeasuredKernel>& kernels) {
  constexpr int kFolders = 64;
  std::map<std::string, std::string> names;
  std::map<std::string, std::string_view> folders;
  for (const MeasuredKernel& kernel : kernels) {
    const auto [at, is_new] = names.emplace(kernel.file, "");
    if (!is_new) continue;
    at->second = StableFile(kernel.file);
    folders[at->first] = Folder(at->first);
  }
  for (int i = 0; i < kFolders && AddFolders(names, folders); ++i) {
  }
  return names;
}

}  // namespace cuproof
