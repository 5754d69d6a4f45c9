#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "link/environment.h"
#include "link/loaded_file.h"
#include "link/search.h"

namespace cuproof {

inline constexpr uint32_t kNoObject = UINT32_MAX;

/// An object of the modelled process.
struct LoadedObject {
  std::string path;
  std::shared_ptr<const LoadedFile> file;
  FoundBy found_by = FoundBy::kMain;
  SearchStep step;                 // where it was found
  std::string requested;           // the name it was first asked for by
  uint32_t loader = kNoObject;     // who asked first
  uint32_t load = 0;               // which load brought it: 0 the program, then counting
  bool global = false;             // its symbols serve every later object
  std::vector<std::string> names;  // by which it is known: requested ones and its SONAME
  std::vector<uint32_t> needed;    // for each DT_NEEDED the object, or kNoObject
  const DynamicObject& dynamic() const { return *file->object; }
};

/// A library that is not there.
struct MissingLibrary {
  std::string name;
  uint32_t wanted_by = kNoObject;  // the object whose DT_NEEDED it is; others in `also`
  std::vector<uint32_t> also;
  std::vector<SearchStep> tried;
  std::vector<Candidate> unfit;           // files of that name that cannot serve
  std::optional<std::string> unreadable;  // a file of that name that is no library ended the search
};

/// Objects of one process that are the same library by name: two copies, or two releases.
struct LibraryCopies {
  std::string stem;  // "libcudart": the SONAME (or file name) up to ".so"
  std::vector<uint32_t> objects;
};

struct LoadOptions {
  bool global = false;          // RTLD_GLOBAL
  uint32_t caller = kNoObject;  // the object whose code calls dlopen; kNoObject: the program
};

/// What one dlopen did to the set of objects, before any symbol is looked up.
struct LoadOutcome {
  uint32_t root = kNoObject;
  std::vector<uint32_t> added;  // new objects in the order in which they were mapped
  std::vector<uint32_t> scope;  // the root's local scope: itself and its needs, breadth first
  std::vector<MissingLibrary> missing;
  std::optional<Error> error;  // the root itself cannot be loaded
};

/// A process as the loader keeps it: objects in order, and a global scope. A value: copy it to try
/// a load and throw the copy away.
class Process {
 public:
  Process(const Environment& environment, FileCache& files)
      : environment_(&environment), files_(&files) {}

  /// Maps the program and what it needs; everything of it is global.
  LoadOutcome Start(const std::string& program);
  /// dlopen. A path with a slash, or a name that is searched for.
  LoadOutcome Open(const std::string& path, const LoadOptions& options = {});

  const std::vector<LoadedObject>& objects() const { return objects_; }
  const std::vector<uint32_t>& global_scope() const { return global_; }
  uint32_t FindLoaded(const std::string& name) const;  // by name, SONAME; kNoObject
  const Environment& environment() const { return *environment_; }

  /// "a.so -> libtorch.so -> libcudart.so.13": how an object came in, the first asker first.
  std::vector<uint32_t> ChainOf(uint32_t object) const;

  /// Libraries of which there is more than one. The hash in a name such as
  /// libgfortran-040039e1.so.5, by which auditwheel keeps copies apart, is part of the stem.
  std::vector<LibraryCopies> Copies() const;

  /// What else of that name the search of its loader would have met behind it.
  std::vector<Candidate> ShadowedBy(uint32_t object) const;

 private:
  struct Queue;
  uint32_t Add(LoadedObject object);
  std::vector<Requester> RequestersOf(uint32_t object) const;
  uint32_t FindFile(const LoadedFile& file) const;
  LoadOutcome LoadTree(uint32_t root, bool is_new, bool global);
  void MapNeeds(uint32_t object, LoadOutcome& outcome);
  std::vector<uint32_t> BreadthFirst(uint32_t root) const;

  const Environment* environment_;
  FileCache* files_;
  std::vector<LoadedObject> objects_;
  std::vector<uint32_t> global_;
  uint32_t loads_ = 0;
};

}  // namespace cuproof
