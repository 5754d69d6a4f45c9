#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "bytes/mapped_file.h"
#include "bytes/parallel.h"
#include "container/content.h"
#include "container/file_head.h"
#include "container/process_maps.h"
#include "container/unit.h"
#include "container/walk.h"
#include "container/zip_units.h"

namespace cuproof {
namespace {

bool IsFolder(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool IsRegular(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// What venv, virtualenv and uv write (PEP 405), and what conda writes.
bool IsEnvironment(const std::string& folder) {
  return IsRegular(folder + "/pyvenv.cfg") || IsFolder(folder + "/conda-meta");
}

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

class Taker {
 public:
  Inventory Take(const std::vector<std::string>& paths, const std::vector<RootPart>& parts) {
    for (const std::string& path : paths) {
      Root root;
      root.argument = path;
      inventory_.roots.push_back(std::move(root));
      if (!NamesProcess(path) && IsFolder(path)) walked_.push_back(RealPath(path));
    }
    // Files first: one that is named and lies in a named folder too counts as named.
    ForEachRoot([&](uint32_t root, const std::string& path) {
      if (!NamesProcess(path) && !IsFolder(path)) TakeNamed(root, path);
    });
    ForEachRoot([&](uint32_t root, const std::string& path) {
      if (NamesProcess(path)) {
        TakeProcess(root, path);
      } else if (IsFolder(path)) {
        TakeFolder(root, path);
      }
    });
    for (const RootPart& part : parts) TakePart(part);
    std::sort(inventory_.units.begin(), inventory_.units.end(), [](const Unit& a, const Unit& b) {
      return std::tie(b.size, a.root, a.shown) < std::tie(a.size, b.root, b.shown);
    });
    return std::move(inventory_);
  }

 private:
  template <typename Work>
  void ForEachRoot(const Work& work) {
    for (uint32_t i = 0; i < inventory_.roots.size(); ++i) work(i, inventory_.roots[i].argument);
  }

  void TakeNamed(uint32_t root, const std::string& path) {
    // Refuses what is not a regular file without opening it, and says why.
    const auto mapped = MappedFile::Open(path);
    if (!mapped) {
      inventory_.problems.push_back(mapped.error());
      return;
    }
    const auto head = ReadFileHead(path);
    if (!head) {
      inventory_.problems.push_back(head.error());
      return;
    }
    if (!FirstSight(head->id)) return;
    if (head->content == Content::kZip) {
      const ZipFacts facts = TakeZip({root, path, path}, inventory_);
      inventory_.roots[root].kind = facts.wheel ? RootKind::kWheel : RootKind::kZip;
      inventory_.roots[root].name = facts.name;
    } else {
      AddUnit(root, {path, path}, head->size, true);
    }
  }

  void TakeFolder(uint32_t root, const std::string& path) {
    const bool environment = IsEnvironment(path);
    inventory_.roots[root].kind = environment ? RootKind::kEnvironment : RootKind::kFolder;
    if (environment) inventory_.roots[root].name = BaseName(RealPath(path));
    Listing listing = WalkFolder(path, walked_);
    Append(std::move(listing.problems), inventory_.problems);
    Append(std::move(listing.skipped), inventory_.skipped);
    // Links last, so that a file is shown by its own path where it has one.
    std::vector<MappedPath> files;
    for (std::string& file : listing.files) files.push_back({file, file});
    for (std::string& link : listing.links) files.push_back({link, link});
    TakeFiles(root, files);
  }

  // Files that were met in a named folder stay that one's.
  void TakePart(const RootPart& part) {
    if (part.root >= inventory_.roots.size() || !IsFolder(part.folder)) return;
    Listing listing = WalkFolder(part.folder, walked_);
    std::vector<MappedPath> files;
    for (const std::string& file : listing.files) {
      if (!LiesInLeftOut(part.folder, file)) files.push_back({file, file});
    }
    TakeFiles(part.root, files);
  }

  // Folders of a project that are no part of what is imported from it.
  bool LiesInLeftOut(const std::string& folder, const std::string& file) {
    static const std::set<std::string> names = {"build",    "dist",         "site-packages", "venv",
                                                "_skbuild", "node_modules", "__pycache__"};
    size_t start = folder.size() + 1;
    for (size_t end = file.find('/', start); end != std::string::npos;
         end = file.find('/', start)) {
      const std::string name = file.substr(start, end - start);
      if (name.starts_with('.') || names.contains(name)) return true;
      const auto known = environments_.try_emplace(file.substr(0, end), false);
      if (known.second) known.first->second = IsEnvironment(file.substr(0, end));
      if (known.first->second) return true;
      start = end + 1;
    }
    return false;
  }

  void TakeProcess(uint32_t root, const std::string& argument) {
    inventory_.roots[root].kind = RootKind::kProcess;
    auto process = ListProcess(argument);
    if (!process) {
      inventory_.problems.push_back(process.error());
      return;
    }
    inventory_.roots[root].name = process->name;
    Append(std::move(process->problems), inventory_.problems);
    TakeFiles(root, process->files);
  }

  void TakeFiles(uint32_t root, const std::vector<MappedPath>& files) {
    std::vector<std::optional<Result<FileHead>>> heads(files.size());
    ParallelFor(files.size(), ProcessorCount(),
                [&](size_t i) { heads[i] = ReadFileHead(files[i].file); });
    for (size_t i = 0; i < files.size(); ++i) TakeFile(root, files[i], *heads[i]);
  }

  void TakeFile(uint32_t root, const MappedPath& path, const Result<FileHead>& head) {
    if (!head) {
      Error error = head.error();
      error.file = path.shown;
      inventory_.problems.push_back(std::move(error));
      return;
    }
    if (!FirstSight(head->id)) return;
    if (head->content == Content::kZip) {
      TakeZip({root, path.file, path.shown}, inventory_);
    } else if (head->content == Content::kData && head->size > kMaxUnknownData) {
      inventory_.skipped.push_back({ErrorCode::kUnsupported,
                                    "large data file not looked into: name it to check it",
                                    path.shown, std::nullopt});
    } else if (head->content != Content::kOther) {
      AddUnit(root, path, head->size, false);
    }
  }

  void AddUnit(uint32_t root, const MappedPath& path, uint64_t size, bool named) {
    Unit unit;
    unit.root = root;
    unit.file = path.file;
    unit.shown = path.shown;
    unit.size = size;
    unit.named = named;
    inventory_.units.push_back(std::move(unit));
  }

  bool FirstSight(const FileId& id) {
    const bool first = seen_.insert(id).second;
    ++(first ? inventory_.files_seen : inventory_.duplicates);
    return first;
  }

  static void Append(std::vector<Error> from, std::vector<Error>& to) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
  }

  Inventory inventory_;
  std::vector<std::string> walked_;  // real paths of the folders among the roots
  std::set<FileId> seen_;
  std::map<std::string, bool> environments_;  // folders of parts: whether they are one
};

}  // namespace

Inventory TakeInventory(const std::vector<std::string>& paths, const std::vector<RootPart>& parts) {
  return Taker().Take(paths, parts);
}

}  // namespace cuproof
