#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bytes/result.h"
#include "bytes/view.h"

namespace cuproof {

/// What the user named: a file, a wheel, a folder, an environment, a process.
enum class RootKind : uint8_t { kFile, kWheel, kZip, kFolder, kEnvironment, kProcess };

const char* RootKindName(RootKind kind);

struct Root {
  RootKind kind = RootKind::kFile;
  std::string argument;  // as the user wrote it
  std::string name;      // a wheel's distribution and version, an environment's folder name, a
                         // process's command name
};

/// A folder elsewhere that belongs to a root: a project that an environment has as an editable
/// install.
struct RootPart {
  uint32_t root = 0;
  std::string folder;
};

/// A member of a zip. Names can repeat within a zip, indices cannot.
struct Member {
  std::string name;
  uint64_t index = 0;
};

/// One thing to read: a file on disk, or a member of a zip (of a zip …) on disk.
struct Unit {
  uint32_t root = 0;            // index in Inventory::roots
  std::string file;             // path that can be opened
  std::string shown;            // "x.whl!torch/lib/libc10.so": for people, not escaped
  std::vector<Member> members;  // inside the file, outermost first; empty: the file itself
  uint64_t size = 0;            // of the file, or what the zip says of the member when expanded
  bool named = false;           // named by the user: read in full whatever it is
};

/// Everything there is to read, links and hard-linked copies once, largest first, and everything
/// that could not be looked into.
struct Inventory {
  std::vector<Root> roots;  // one for each PATH, in order, also where it could not be read
  std::vector<Unit> units;
  std::vector<Error> problems;  // unreadable: exit code 2
  std::vector<Error> skipped;   // left alone on purpose, with the reason: notes
  uint64_t files_seen = 0;      // files and members of zips, each once, whether units or not
  uint64_t duplicates = 0;      // links and hard-linked copies
};

/// Bytes of a unit, kept alive as long as this object lives.
class UnitBytes {
 public:
  virtual ~UnitBytes() = default;
  virtual ByteView bytes() const = 0;
  /// True when the file shrank while it was read.
  virtual bool changed() const { return false; }
  /// A part that will hardly be read again.
  virtual void Forget(ByteView) const {}
};

/// Finds what PATHs name: files, wheels and other zips (read in place), folders and environments
/// (walked), "pid:N" (files that a process has mapped). Content decides, never a file's name.
/// `parts` are walked too, but for what in them is nobody's module: builds, environments, archives
/// of versions.
Inventory TakeInventory(const std::vector<std::string>& paths,
                        const std::vector<RootPart>& parts = {});

/// Opens a unit; from any thread. Members are expanded into memory, never to disk.
Result<std::unique_ptr<UnitBytes>> OpenUnit(const Unit& unit);

/// The environment to check when no PATH is given: $VIRTUAL_ENV, else $CONDA_PREFIX; empty: none.
std::string ActiveEnvironment();

}  // namespace cuproof
