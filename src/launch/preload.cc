#include "launch/preload.h"

#include <fmt/format.h>

#include <cstdlib>

#include "launch/driver_file.h"
#include "link/text_file.h"

namespace cuproof::launch {
namespace {

constexpr const char* kSystemFile = "/etc/ld.so.preload";

std::vector<std::string> Split(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = text.find_first_of(separators);
    if (end != 0) parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

// A comment goes from # to the end of its line, as the loader has it.
std::string WithoutComments(std::string text) {
  bool comment = false;
  for (char& c : text) {
    if (c == '#') comment = true;
    if (c == '\n') comment = false;
    if (comment) c = ' ';
  }
  return text;
}

/// An error where `entry` calls itself libcuda.so.1.
Result<bool> CheckEntry(const std::string& entry, const char* where, const Environment& environment,
                        FileCache& files) {
  const SearchResult search = FindLibrary(environment, files, entry);
  if (!search.winner) return true;
  const Candidate& found = search.candidates[*search.winner];
  if (!found.file->object || found.file->object->soname != kDriverName) return true;
  if (IsOurShim(*found.file->object)) {
    return Error{ErrorCode::kUsage,
                 "this already runs under cuproof run, which records whatever a program starts: "
                 "call the command itself, without a second cuproof run",
                 found.path, std::nullopt};
  }
  return Error{ErrorCode::kUsage,
               fmt::format("{} puts it in place of the driver (its SONAME is {}), and two such "
                           "libraries would call each other; take it out to record this program",
                           where, kDriverName),
               found.path, std::nullopt};
}

}  // namespace

Preloads ReadPreloads() {
  const char* variable = std::getenv("LD_PRELOAD");  // NOLINT(concurrency-mt-unsafe)
  return {variable ? variable : "", ReadSmallFile(kSystemFile)};
}

std::vector<std::string> SplitPreload(std::string_view text) { return Split(text, " :"); }

Result<std::vector<std::string>> CheckPreloads(const Preloads& preloads,
                                               const Environment& environment, FileCache& files) {
  for (const std::string& entry : SplitPreload(preloads.variable)) {
    if (auto fine = CheckEntry(entry, "LD_PRELOAD", environment, files); !fine) return fine.error();
  }
  std::vector<std::string> notes;
  for (const std::string& entry : Split(WithoutComments(preloads.system), ": \t\n")) {
    if (auto fine = CheckEntry(entry, kSystemFile, environment, files); !fine) return fine.error();
    notes.push_back(fmt::format("{} preloads {} into every program", kSystemFile, entry));
  }
  return notes;
}

std::string WithShim(const std::string& shim, const std::string& variable) {
  return variable.empty() ? shim : shim + ':' + variable;
}

bool CanBePreloaded(std::string_view path) {
  return path.find_first_of(" :$") == std::string_view::npos;
}

}  // namespace cuproof::launch
