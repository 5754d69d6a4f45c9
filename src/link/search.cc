#include "link/search.h"

#include <fmt/format.h>

namespace cuproof {
namespace {

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// The most folders met in an RPATH are 17, of torch. More are made to make a search slow.
constexpr size_t kMaxFolders = 256;
constexpr size_t kMaxTried = 256;  // kept of one search

// The folders of an RPATH. An empty one is the current folder, as glibc has it.
std::vector<std::string_view> SplitColons(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(':');
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos || parts.size() == kMaxFolders) return parts;
    text.remove_prefix(end + 1);
  }
}

/// Takes places one after another until a file of the name serves.
class Hunt {
 public:
  Hunt(const Environment& environment, FileCache& files, const std::string& name,
       const ElfIdentity& wanted, bool all, SearchResult& result)
      : environment_(environment),
        files_(files),
        name_(name),
        wanted_(wanted),
        all_(all),
        result_(result) {}

  bool done() const { return (result_.winner && !all_) || result_.stopped; }

  // Each folder is preceded by those for better processors below it.
  void Folder(const SearchStep& step) {
    if (done()) return;
    if (result_.tried.size() < kMaxTried) result_.tried.push_back(step);
    if (!files_.FolderExists(step.folder)) return;
    const std::string better = step.folder + "/glibc-hwcaps";
    if (files_.FolderExists(better)) {
      for (const std::string& level : environment_.system.hwcaps) {
        File(step, fmt::format("{}/{}/{}", better, level, name_));
      }
    }
    File(step, step.folder + '/' + name_);
  }

  void File(const SearchStep& step, const std::string& path) {
    if (done()) return;
    auto file = files_.Open(path);
    if (!file->exists) return;
    Candidate candidate{step, path, std::move(file), false, false};
    const LoadedFile& found = *candidate.file;
    if (found.identity) {
      const bool other_class = found.identity->is_64_bit != wanted_.is_64_bit;
      candidate.unreadable = !other_class && found.identity->little_endian != wanted_.little_endian;
      candidate.other_machine =
          !candidate.unreadable && (other_class || found.identity->machine != wanted_.machine);
    } else if (found.error && found.error->code == ErrorCode::kNotReadable) {
      return;  // no right to read it: the loader goes on, as if it were not there
    } else {
      candidate.unreadable = true;  // a folder of that name, too
    }
    if (!candidate.other_machine && !result_.winner) {
      if (candidate.unreadable) {
        result_.stopped = true;
      } else {
        result_.winner = result_.candidates.size();
      }
    }
    result_.candidates.push_back(std::move(candidate));
  }

 private:
  const Environment& environment_;
  FileCache& files_;
  const std::string& name_;
  const ElfIdentity& wanted_;
  const bool all_;
  SearchResult& result_;
};

}  // namespace

const char* FoundByName(FoundBy by) {
  switch (by) {
    case FoundBy::kMain:
      return "program";
    case FoundBy::kPath:
      return "path";
    case FoundBy::kLoaded:
      return "loaded before";
    case FoundBy::kRpath:
      return "RPATH";
    case FoundBy::kLibraryPath:
      return "LD_LIBRARY_PATH";
    case FoundBy::kRunpath:
      return "RUNPATH";
    case FoundBy::kCache:
      return "ld.so.cache";
    case FoundBy::kDefault:
      break;
  }
  return "default folder";
}

std::string Searcher::Expand(std::string_view raw, const std::string& origin_of) const {
  std::string out;
  bool from_origin = false;
  for (size_t at = 0; at < raw.size();) {
    if (raw[at] != '$') {
      out += raw[at++];
      continue;
    }
    const std::string_view rest = raw.substr(at);
    const auto take = [&](std::string_view token) {
      const std::string braced = "${" + std::string(token) + "}";
      if (rest.substr(0, braced.size()) == braced) return braced.size();
      return rest.substr(1, token.size()) == token ? token.size() + 1 : size_t{0};
    };
    if (const size_t origin = take("ORIGIN")) {
      from_origin |= out.empty();
      out += FolderOf(origin_of);
      at += origin;
    } else if (const size_t lib = take("LIB")) {
      out += environment_.system.lib_token;
      at += lib;
    } else if (const size_t platform = take("PLATFORM")) {
      out += environment_.system.platform_token;
      at += platform;
    } else {
      out += raw[at++];
    }
  }
  if (out.empty()) return ".";
  while (out.size() > 1 && out.back() == '/') out.pop_back();
  if (from_origin || out.front() != '/') return out;
  return InSysroot(environment_.system.sysroot, out);
}

SearchResult Searcher::Find(const std::string& name, const std::vector<Requester>& chain,
                            bool all) const {
  SearchResult result;
  if (chain.empty()) return result;
  const DynamicObject& requester = *chain.front().object;
  Hunt hunt(environment_, files_, name, requester.identity, all, result);
  const auto take_path = [&](FoundBy by, std::string_view text, const std::string& owner) {
    for (const std::string_view part : SplitColons(text)) {
      hunt.Folder({by, Expand(part, owner), std::string(part), owner});
    }
  };
  if (name.find('/') != std::string::npos) {
    const std::string path = Expand(name, chain.front().path);
    hunt.File({FoundBy::kPath, FolderOf(path), name, ""}, path);
    return result;
  }
  // An object with a RUNPATH has no use for any RPATH, not even for those of its loaders; an RPATH
  // beside a RUNPATH in one object means nothing.
  if (!requester.runpath) {
    for (const Requester& link : chain) {
      if (link.object->rpath && !link.object->runpath) {
        take_path(FoundBy::kRpath, *link.object->rpath, link.path);
      }
    }
  }
  for (const std::string& folder : environment_.library_path) {
    const std::string at = Expand(folder, chain.back().path);
    hunt.Folder({FoundBy::kLibraryPath, at, folder, ""});
  }
  if (requester.runpath) take_path(FoundBy::kRunpath, *requester.runpath, chain.front().path);
  const SystemLibraries& system = environment_.system;
  const auto is_default = [&](const std::string& path) {
    for (const std::string& folder : system.default_folders) {
      if (FolderOf(path) == folder) return true;
    }
    return false;
  };
  if (!hunt.done()) {
    // Only the best entry is tried; with `all` the others are copies that it shadows.
    for (const LdCache::Entry* entry :
         system.cache.Find(name, requester.identity.machine, system.hwcaps)) {
      if (requester.no_default_lib && is_default(entry->path)) continue;
      hunt.File({FoundBy::kCache, FolderOf(entry->path), entry->path, ""},
                InSysroot(system.sysroot, entry->path));
      if (!all) break;
    }
  }
  for (const std::string& folder : system.configured_folders) {
    hunt.Folder({FoundBy::kCache, InSysroot(system.sysroot, folder), folder, ""});
  }
  if (!requester.no_default_lib) {
    for (const std::string& folder : system.default_folders) {
      hunt.Folder({FoundBy::kDefault, InSysroot(system.sysroot, folder), folder, ""});
    }
  }
  return result;
}

}  // namespace cuproof
