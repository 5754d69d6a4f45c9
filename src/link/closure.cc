#include "link/closure.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace cuproof {
namespace {

constexpr size_t kMaxObjects = 20'000;  // of one process: a chain of hostile needs ends here

bool Has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What keeps a file from being loaded by dlopen. Words as in glibc's messages.
std::optional<Error> WhyNotOpened(const LoadedFile& file, bool as_program) {
  if (file.error) return *file.error;
  const DynamicObject& object = *file.object;
  const auto refuse = [&](std::string phrase) {
    return Error{ErrorCode::kUnsupported, std::move(phrase), file.path, std::nullopt};
  };
  if (object.identity.type != ET_DYN && object.identity.type != ET_EXEC) {
    return refuse("only ET_DYN and ET_EXEC can be loaded");
  }
  // A kernel starts a program of any, and `ldd` has the loader open it.
  const uint8_t system = file.bytes().Load<uint8_t>(EI_OSABI).value_or(ELFOSABI_NONE);
  if (system != ELFOSABI_NONE && system != ELFOSABI_GNU) return refuse("ELF file OS ABI invalid");
  if (as_program) return std::nullopt;
  if (object.identity.type == ET_EXEC) return refuse("cannot dynamically load executable");
  if (!object.has_dynamic) return refuse("object file has no dynamic section");
  if (object.position_independent_executable) {
    return refuse("cannot dynamically load position-independent executable");
  }
  if (object.no_open) return refuse("shared object cannot be dlopen()ed");
  return std::nullopt;
}

}  // namespace

uint32_t Process::Add(LoadedObject object) {
  const auto& dynamic = object.dynamic();
  if (!dynamic.soname.empty()) object.names.emplace_back(dynamic.soname);
  objects_.push_back(std::move(object));
  return static_cast<uint32_t>(objects_.size() - 1);
}

uint32_t Process::FindLoaded(const std::string& name) const {
  for (uint32_t i = 0; i < objects_.size(); ++i) {
    if (Has(objects_[i].names, name) || objects_[i].path == name) return i;
  }
  return kNoObject;
}

uint32_t Process::FindFile(const LoadedFile& file) const {
  for (uint32_t i = 0; i < objects_.size(); ++i) {
    const LoadedFile& other = *objects_[i].file;
    if (other.inode == file.inode && other.device == file.device) return i;
  }
  return kNoObject;
}

std::vector<uint32_t> Process::ChainOf(uint32_t object) const {
  std::vector<uint32_t> chain;
  for (uint32_t at = object; at != kNoObject && chain.size() < kMaxObjects;
       at = objects_[at].loader) {
    chain.insert(chain.begin(), at);
  }
  return chain;
}

// Whose RPATH counts: the object, its loader and so on, and the program in any case.
std::vector<Requester> Process::RequestersOf(uint32_t object) const {
  std::vector<Requester> chain;
  bool program = false;
  for (uint32_t at = object; at != kNoObject && chain.size() < kMaxObjects;
       at = objects_[at].loader) {
    chain.push_back({&objects_[at].dynamic(), objects_[at].path});
    program |= at == 0;
  }
  if (!program && !objects_.empty() && objects_[0].found_by == FoundBy::kMain) {
    chain.push_back({&objects_[0].dynamic(), objects_[0].path});
  }
  return chain;
}

std::vector<uint32_t> Process::BreadthFirst(uint32_t root) const {
  std::vector<uint32_t> order = {root};
  std::vector<bool> seen(objects_.size());
  seen[root] = true;
  for (size_t i = 0; i < order.size(); ++i) {
    for (const uint32_t need : objects_[order[i]].needed) {
      if (need == kNoObject || seen[need]) continue;
      seen[need] = true;
      order.push_back(need);
    }
  }
  return order;
}

void Process::MapNeeds(uint32_t object, LoadOutcome& outcome) {
  const Searcher searcher(*environment_, *files_);
  // A copy: the list of objects grows meanwhile.
  const std::vector<std::string_view> needed = objects_[object].dynamic().needed;
  for (const std::string_view view : needed) {
    const std::string name(view);
    uint32_t found = FindLoaded(name);
    if (found == kNoObject) {
      const auto known =
          std::find_if(outcome.missing.begin(), outcome.missing.end(),
                       [&](const MissingLibrary& missing) { return missing.name == name; });
      SearchResult result = searcher.Find(name, RequestersOf(object));
      if (result.winner && objects_.size() < kMaxObjects) {
        Candidate& winner = result.candidates[*result.winner];
        found = FindFile(*winner.file);
        if (found == kNoObject && winner.file->object) {
          LoadedObject loaded;
          loaded.path = winner.path;
          loaded.file = winner.file;
          loaded.found_by = winner.step.by;
          loaded.step = winner.step;
          loaded.requested = name;
          loaded.loader = object;
          loaded.load = loads_;
          loaded.names = {name};
          found = Add(std::move(loaded));
          outcome.added.push_back(found);
        }
        if (found != kNoObject && !Has(objects_[found].names, name)) {
          objects_[found].names.push_back(name);
        }
      } else if (known != outcome.missing.end()) {
        known->also.push_back(object);
      } else {
        MissingLibrary missing;
        missing.name = name;
        missing.wanted_by = object;
        missing.tried = std::move(result.tried);
        missing.unfit = std::move(result.candidates);
        if (result.stopped) missing.unreadable = missing.unfit.back().path;
        outcome.missing.push_back(std::move(missing));
      }
    }
    objects_[object].needed.push_back(found);
  }
}

// Breadth first over everything below the root: what was loaded before has its needs already.
LoadOutcome Process::LoadTree(uint32_t root, bool is_new, bool global) {
  LoadOutcome outcome;
  outcome.root = root;
  if (is_new) {
    outcome.added.push_back(root);
    for (size_t i = 0; i < outcome.added.size(); ++i) MapNeeds(outcome.added[i], outcome);
  }
  outcome.scope = BreadthFirst(root);
  if (global) {
    for (const uint32_t object : outcome.scope) {
      if (!objects_[object].global) global_.push_back(object);
      objects_[object].global = true;
    }
  }
  return outcome;
}

LoadOutcome Process::Start(const std::string& program) {
  LoadOutcome failed;
  auto file = files_->Open(program);
  failed.error = WhyNotOpened(*file, true);
  if (failed.error) return failed;
  LoadedObject main;
  main.path = program;
  main.file = file;
  main.requested = program;
  const uint32_t root = Add(std::move(main));
  // The loader is in the process before anything asks for it, under its own name.
  const std::string& system = environment_->system.loader_path;
  const std::string_view own = file->object->interpreter;
  const std::string interpreter =
      own.empty() ? system : InSysroot(environment_->system.sysroot, std::string(own));
  auto loader = files_->Open(interpreter);
  if (!loader->object) loader = files_->Open(system);
  if (loader->object && loader->object->identity.machine == file->object->identity.machine) {
    LoadedObject object;
    object.path = loader->path;
    object.file = std::move(loader);
    object.found_by = FoundBy::kPath;
    object.requested = object.path;
    object.loader = root;
    Add(std::move(object));
  }
  return LoadTree(root, true, true);
}

LoadOutcome Process::Open(const std::string& path, const LoadOptions& options) {
  ++loads_;
  if (const uint32_t loaded = FindLoaded(path); loaded != kNoObject) {
    return LoadTree(loaded, false, options.global);
  }
  LoadedObject object;
  object.requested = path;
  object.load = loads_;
  object.found_by = FoundBy::kPath;
  object.path = path;
  if (path.find('/') == std::string::npos && !objects_.empty()) {
    const uint32_t caller = options.caller == kNoObject ? 0 : options.caller;
    SearchResult result = Searcher(*environment_, *files_).Find(path, RequestersOf(caller));
    if (!result.winner) {
      LoadOutcome failed;
      MissingLibrary missing;
      missing.name = path;
      missing.tried = std::move(result.tried);
      missing.unfit = std::move(result.candidates);
      failed.missing.push_back(std::move(missing));
      return failed;
    }
    const Candidate& winner = result.candidates[*result.winner];
    object.path = winner.path;
    object.found_by = winner.step.by;
    object.step = winner.step;
  }
  object.file = files_->Open(object.path);
  LoadOutcome failed;
  failed.error = WhyNotOpened(*object.file, false);
  if (!failed.error && !objects_.empty() &&
      object.file->object->identity.machine != objects_[0].dynamic().identity.machine) {
    failed.error = Error{
        ErrorCode::kUnsupported,
        fmt::format("is for {}, the program for {}", ElfMachineName(object.file->object->identity),
                    ElfMachineName(objects_[0].dynamic().identity)),
        object.path, std::nullopt};
  }
  if (failed.error) return failed;
  if (const uint32_t same = FindFile(*object.file); same != kNoObject) {
    if (!Has(objects_[same].names, path)) objects_[same].names.push_back(path);
    return LoadTree(same, false, options.global);
  }
  object.names = {path};
  return LoadTree(Add(std::move(object)), true, options.global);
}

std::vector<LibraryCopies> Process::Copies() const {
  std::map<std::string, std::vector<uint32_t>> by_stem;
  for (uint32_t i = 1; i < objects_.size(); ++i) {
    const std::string_view soname = objects_[i].dynamic().soname;
    const std::string& path = objects_[i].path;
    std::string stem(soname.empty() ? std::string_view(path).substr(path.rfind('/') + 1) : soname);
    const size_t end = stem.find(".so");
    if (end == std::string::npos || stem.substr(0, 3) != "lib") continue;
    stem.resize(end);
    by_stem[std::move(stem)].push_back(i);
  }
  std::vector<LibraryCopies> copies;
  for (auto& [stem, objects] : by_stem) {
    if (objects.size() > 1) copies.push_back({stem, std::move(objects)});
  }
  return copies;
}

std::vector<Candidate> Process::ShadowedBy(uint32_t object) const {
  const LoadedObject& winner = objects_[object];
  if (winner.loader == kNoObject || winner.requested.find('/') != std::string::npos) return {};
  SearchResult result =
      Searcher(*environment_, *files_).Find(winner.requested, RequestersOf(winner.loader), true);
  std::vector<Candidate> others;
  for (Candidate& candidate : result.candidates) {
    const bool same = candidate.file->inode == winner.file->inode &&
                      candidate.file->device == winner.file->device;
    const bool known = std::any_of(others.begin(), others.end(), [&](const Candidate& other) {
      return other.file->inode == candidate.file->inode &&
             other.file->device == candidate.file->device;
    });
    if (!same && !known && !candidate.other_machine && !candidate.unreadable) {
      others.push_back(std::move(candidate));
    }
  }
  return others;
}

}  // namespace cuproof
