#include "launch/driver_file.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "symbol/build_id.h"

namespace cuproof::launch {
namespace {

bool Exports(const std::vector<DriverExport>& exports, std::string_view name) {
  return std::any_of(exports.begin(), exports.end(),
                     [&](const DriverExport& exported) { return exported.name == name; });
}

std::string WhyNone(const SearchResult& search) {
  if (search.stopped) {
    return fmt::format("no driver was found: {} is no library, and the loader stops there",
                       search.candidates.back().path);
  }
  return fmt::format("no driver was found: the loader knows no {}", kDriverName);
}

}  // namespace

std::string AbsolutePath(const std::string& path) {
  // Not normalised: a/../b is another file than b where a is a link.
  std::error_code failed;
  const std::filesystem::path absolute = std::filesystem::absolute(path, failed);
  return failed ? path : absolute.string();
}

bool IsOurShim(const DynamicObject& object) {
  return std::any_of(object.needed.begin(), object.needed.end(), [](std::string_view needed) {
    return needed.substr(needed.rfind('/') + 1) == kInjectName;
  });
}

SearchResult FindLibrary(const Environment& environment, FileCache& files,
                         const std::string& name) {
  DynamicObject program;
  program.identity = {true, true, EM_X86_64, ET_DYN};
  return Searcher(environment, files).Find(name, {{&program, "/"}});
}

Result<DriverSearch> FindDriver(const Environment& environment, FileCache& files) {
  const SearchResult search = FindLibrary(environment, files, kDriverName);
  if (!search.winner) return DriverSearch{std::nullopt, WhyNone(search)};
  const Candidate& found = search.candidates[*search.winner];
  const LoadedFile& file = *found.file;
  if (!file.object || file.object->soname != kDriverName) {
    return DriverSearch{std::nullopt,
                        fmt::format("no driver was found: {} is what the loader takes, and it does "
                                    "not call itself {}",
                                    found.path, kDriverName)};
  }
  const auto fail = [&](Error error) {
    error.file = found.path;
    return error;
  };
  if (IsOurShim(*file.object)) {
    return fail({ErrorCode::kUsage,
                 "LD_LIBRARY_PATH leads to the library of another cuproof run; take its folder out",
                 "", std::nullopt});
  }
  auto exports = ReadDriverExports(*file.object);
  if (!exports) return fail(exports.error());
  if (!Exports(*exports, "cuInit")) {
    return DriverSearch{std::nullopt,
                        fmt::format("no driver was found: {} does not export cuInit", found.path)};
  }
  return DriverSearch{
      DriverFile{AbsolutePath(found.path), ReadBuildId(file.mapped->bytes()), std::move(*exports)},
      ""};
}

}  // namespace cuproof::launch
