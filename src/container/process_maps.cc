#include "container/process_maps.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>

#include "container/file_head.h"

namespace cuproof {
namespace {

constexpr std::string_view kScheme = "pid:";
constexpr std::string_view kDeleted = " (deleted)";

std::optional<uint64_t> ReadNumber(std::string_view text, int base) {
  uint64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// Takes the next field off the line; fields are separated by one blank, the path by many.
std::string_view TakeField(std::string_view& line) {
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
  return field;
}

// The kernel writes a line feed in a path as \012 and nothing else so (seq_file_path in
// fs/proc/task_mmu.c).
std::string Unescape(std::string_view text) {
  constexpr std::string_view kLineFeed = "\\012";
  std::string path;
  for (size_t at = 0; at < text.size();) {
    const bool feed = text.substr(at, kLineFeed.size()) == kLineFeed;
    path += feed ? '\n' : text[at];
    at += feed ? kLineFeed.size() : 1;
  }
  return path;
}

// Reads a file of /proc, whose size is not known before.
Result<std::string> ReadProc(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path.c_str(), "re"), &fclose);
  if (!file) return SystemError(path, errno);
  std::string text;
  char piece[4096];
  errno = 0;
  while (const size_t got = fread(piece, 1, sizeof(piece), file.get())) text.append(piece, got);
  if (ferror(file.get())) return SystemError(path, errno);
  return text;
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::optional<FileId> RegularFile(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

/// Finds for each mapping a path that opens the very file that the process has.
class Finder {
 public:
  explicit Finder(std::string proc) : proc_(std::move(proc)) {}

  void Take(const Mapping& mapping) {
    if (auto path = FindByName(mapping)) {
      files_.files.push_back(std::move(*path));
    } else if (mapping.executable && !IsMemory(mapping.path)) {
      TakeDeleted(mapping);
    }
    // The rest are devices, and deleted files without code: shared memory and temporary data.
  }

  ProcessFiles Files() && { return std::move(files_); }

 private:
  // The path as it is, or through the process's root where our own tree has another file there.
  std::optional<MappedPath> FindByName(const Mapping& mapping) const {
    const std::string rooted = proc_ + "/root" + mapping.path;
    const auto inside = RegularFile(rooted);
    if (!inside) return std::nullopt;
    MappedPath path{RegularFile(mapping.path) == inside ? mapping.path : rooted, mapping.path};
    if (inside->inode == mapping.inode) return path;
    // Replaced by an upgrade, or a file system such as overlayfs that numbers its files twice. Only
    // the kernel's own link to the mapped file tells; without the right to follow it, the path is
    // the best answer.
    const auto mapped = RegularFile(RangeLink(mapping));
    if (!mapped || *mapped == *inside) return path;
    return MappedPath{RangeLink(mapping), mapping.path + " (replaced since)"};
  }

  void TakeDeleted(const Mapping& mapping) {
    if (RegularFile(RangeLink(mapping))) {
      files_.files.push_back({RangeLink(mapping), mapping.path});
      return;
    }
    files_.problems.push_back({ErrorCode::kNotFound,
                               "deleted since the process mapped it, and out of reach",
                               WithoutMark(mapping.path), std::nullopt});
  }

  // Devices, and names for memory that never had a path: code made at run time lives there.
  static bool IsMemory(std::string_view path) {
    for (const std::string_view start : {"/memfd:", "/dev/", "/SYSV", "/anon_hugepage", "/["}) {
      if (path.substr(0, start.size()) == start) return true;
    }
    return false;
  }

  // The kernel's link to a mapped file; following it needs CAP_CHECKPOINT_RESTORE.
  std::string RangeLink(const Mapping& mapping) const {
    return proc_ + "/map_files/" + mapping.range;
  }

  static std::string WithoutMark(const std::string& path) {
    const size_t end = path.size() - std::min(path.size(), kDeleted.size());
    return path.substr(end) == kDeleted ? path.substr(0, end) : path;
  }

  std::string proc_;
  ProcessFiles files_;
};

Error WithArgument(Error error, const std::string& argument) {
  if (error.code == ErrorCode::kNotFound) error.phrase = "no process has this number";
  error.file = argument;
  return error;
}

std::string CommandName(const std::string& proc) {
  auto name = ReadProc(proc + "/comm");
  if (!name) return {};
  if (!name->empty() && name->back() == '\n') name->pop_back();
  return std::move(*name);
}

// One mapping of each file: an executable one if there is one.
std::vector<Mapping> OneOfEach(std::string_view maps) {
  std::vector<Mapping> mappings;
  std::map<std::pair<uint64_t, std::string>, size_t> seen;
  for (const std::string_view line : Lines(maps)) {
    auto mapping = ReadMapping(line);
    if (!mapping) continue;
    const auto [at, added] =
        seen.emplace(std::pair(mapping->inode, mapping->path), mappings.size());
    if (added) {
      mappings.push_back(std::move(*mapping));
    } else {
      mappings[at->second].executable |= mapping->executable;
    }
  }
  return mappings;
}

}  // namespace

std::optional<Mapping> ReadMapping(std::string_view line) {
  Mapping mapping;
  mapping.range = TakeField(line);
  mapping.executable = TakeField(line).find('x') != std::string_view::npos;
  TakeField(line);  // offset
  TakeField(line);  // device, whose number differs from stat's on btrfs and overlayfs
  const auto inode = ReadNumber(TakeField(line), 10);
  if (!inode || *inode == 0 || line.empty() || line.front() != '/') return std::nullopt;
  mapping.inode = *inode;
  mapping.path = Unescape(line);
  return mapping;
}

bool NamesProcess(std::string_view argument) {
  return argument.substr(0, kScheme.size()) == kScheme;
}

Result<ProcessFiles> ListProcess(const std::string& argument) {
  const auto number = ReadNumber(std::string_view(argument).substr(kScheme.size()), 10);
  if (!number || *number == 0) {
    return Error{ErrorCode::kUsage, "expected the number of a process, as in pid:1234", argument,
                 std::nullopt};
  }
  const std::string proc = fmt::format("/proc/{}", *number);
  const auto maps = ReadProc(proc + "/maps");
  if (!maps) return WithArgument(maps.error(), argument);
  if (maps->empty()) {
    return Error{ErrorCode::kNotReadable, "the process has no memory: it ended, or is the kernel's",
                 argument, std::nullopt};
  }
  Finder finder(proc);
  for (const Mapping& mapping : OneOfEach(*maps)) finder.Take(mapping);
  ProcessFiles files = std::move(finder).Files();
  files.name = CommandName(proc);
  return files;
}

}  // namespace cuproof
