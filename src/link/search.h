#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "link/environment.h"
#include "link/loaded_file.h"

namespace cuproof {

enum class FoundBy : uint8_t {
  kMain,         // the program
  kPath,         // named with a slash
  kLoaded,       // loaded already, by that name, SONAME or file
  kRpath,        // DT_RPATH of the object or of one of its loaders
  kLibraryPath,  // LD_LIBRARY_PATH
  kRunpath,      // DT_RUNPATH of the object
  kCache,        // ld.so.cache
  kDefault,      // a default folder
};

const char* FoundByName(FoundBy by);  // "RPATH", "LD_LIBRARY_PATH", "ld.so.cache"

/// One place where a library was looked for.
struct SearchStep {
  FoundBy by = FoundBy::kDefault;
  std::string folder;  // expanded, of this machine
  std::string raw;     // as the file says it: "$ORIGIN/../../nvidia/cu13/lib"
  std::string owner;   // whose RPATH or RUNPATH: a path; empty for the others
};

/// A file of the name that was met on the way.
struct Candidate {
  SearchStep step;
  std::string path;
  std::shared_ptr<const LoadedFile> file;
  bool other_machine = false;  // another class or machine: the loader goes on
  bool unreadable = false;     // no ELF file: the loader stops with an error
};

/// An object's part in a search: its path and what it says.
struct Requester {
  const DynamicObject* object = nullptr;
  std::string path;  // for $ORIGIN
};

struct SearchResult {
  std::vector<SearchStep> tried;      // up to the winner, or all
  std::vector<Candidate> candidates;  // files of that name, the skipped ones too
  std::optional<size_t> winner;       // index in candidates
  bool stopped = false;               // a file that is no library ended the search
};

class Searcher {
 public:
  Searcher(const Environment& environment, FileCache& files)
      : environment_(environment), files_(files) {}

  /// Looks for `name` as needed by chain[0], which chain[1] loaded, and so on up to the program.
  /// With `all`, goes on behind the winner: what it shadows.
  SearchResult Find(const std::string& name, const std::vector<Requester>& chain,
                    bool all = false) const;

  /// Text of an RPATH entry with $ORIGIN, $LIB and $PLATFORM filled in.
  std::string Expand(std::string_view raw, const std::string& origin_of) const;

 private:
  const Environment& environment_;
  FileCache& files_;
};

}  // namespace cuproof
