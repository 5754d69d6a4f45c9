#include "diff/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace cuproof {
namespace {

struct Pair {
  const ReleaseFile* before = nullptr;
  const ReleaseFile* after = nullptr;
};

// A library's name without its version: "libcudart.so" of "libcudart.so.12".
std::string Stem(const std::string& library) {
  const size_t so = library.find(".so.");
  return so == std::string::npos ? library : library.substr(0, so + 3);
}

// The same with the digits of its name hidden: libx_cuda128.so took the place of libx_cuda126.so.
std::string WithoutDigits(const std::string& key) {
  std::string text;
  for (const char c : key) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit || text.empty() || text.back() != '#') text += digit ? '#' : c;
  }
  return text;
}

using Unmatched = std::vector<const ReleaseFile*>;

using KeyOf = std::string (*)(const ReleaseFile&);

std::map<std::string, size_t> CountKeys(const Release& release, KeyOf key_of) {
  std::map<std::string, size_t> counts;
  for (const ReleaseFile& file : release.files) ++counts[key_of(file)];
  return counts;
}

// Pairs files whose names are alike in `key_of` where that names one file of each release: of
// libx_cuda118.so and libx_cuda128.so beside each other, none has taken the other's place.
void PairUp(const Release& old_release, const Release& new_release, KeyOf key_of, Unmatched& before,
            Unmatched& after, std::vector<Pair>& pairs) {
  const auto old_counts = CountKeys(old_release, key_of);
  const auto new_counts = CountKeys(new_release, key_of);
  std::map<std::string, const ReleaseFile*> by_key;
  for (const ReleaseFile* file : after) by_key[key_of(*file)] = file;
  std::erase_if(before, [&](const ReleaseFile* file) {
    const std::string key = key_of(*file);
    const auto other = by_key.find(key);
    if (other == by_key.end() || old_counts.at(key) != 1 || new_counts.at(key) != 1) return false;
    pairs.push_back({file, other->second});
    std::erase(after, other->second);
    return true;
  });
}

std::vector<Pair> Match(const Release& before, const Release& after, Unmatched& gone,
                        Unmatched& come) {
  std::vector<Pair> pairs;
  for (const ReleaseFile& file : before.files) gone.push_back(&file);
  for (const ReleaseFile& file : after.files) come.push_back(&file);
  const bool single = before.kind == RootKind::kFile && after.kind == RootKind::kFile &&
                      gone.size() == 1 && come.size() == 1;
  if (single) {
    pairs.push_back({gone[0], come[0]});
    gone.clear();
    come.clear();
    return pairs;
  }
  for (const KeyOf key_of :
       {KeyOf([](const ReleaseFile& file) { return file.path; }),
        KeyOf([](const ReleaseFile& file) { return file.key; }),
        KeyOf([](const ReleaseFile& file) { return WithoutDigits(file.key); })}) {
    PairUp(before, after, key_of, gone, come, pairs);
  }
  return pairs;
}

const char* CoverText(Cover cover) {
  switch (cover) {
    case Cover::kOwn:
      return "code of its own";
    case Cover::kSameMajor:
      return "code of an earlier GPU of its major";
    case Cover::kJit:
      return "PTX";
    case Cover::kNone:
      return "nothing";
    case Cover::kUnknown:
      break;
  }
  return "unknown";
}

// Changes that are the same in several files are one.
class Collector {
 public:
  void Add(ChangeKind kind, Severity severity, const std::string& subject, const std::string& was,
           const std::string& is, const std::string& file) {
    const auto key = std::tuple(kind, subject, was, is);
    const auto [at, is_new] = index_.emplace(key, changes_.size());
    if (is_new) changes_.push_back({kind, severity, subject, was, is, {}, {}, 0, {}, {}});
    changes_[at->second].files.push_back(file);
  }

  std::vector<Change> Take() { return std::move(changes_); }

 private:
  std::map<std::tuple<ChangeKind, std::string, std::string, std::string>, size_t> index_;
  std::vector<Change> changes_;
};

// "525.60.13" of "525.60.13 (CUDA 12 runtime)".
std::string_view Number(const std::string& floor) {
  return std::string_view(floor).substr(0, floor.find(' '));
}

void CompareGpus(const Pair& pair, const std::vector<Gpu>& gpus, Collector& changes) {
  const size_t count =
      std::min({gpus.size(), pair.before->covers.size(), pair.after->covers.size()});
  for (size_t i = 0; i < count; ++i) {
    const Cover was = pair.before->covers[i];
    const Cover is = pair.after->covers[i];
    const std::string gpu = GpuTarget(gpus[i]);
    const auto add = [&](ChangeKind kind, Severity severity) {
      changes.Add(kind, severity, gpu, CoverText(was), CoverText(is), pair.after->path);
    };
    if (was != is && was != Cover::kUnknown && is != Cover::kUnknown) {
      if (is == Cover::kNone) {
        add(ChangeKind::kGpuLost, Severity::kError);
      } else if (was == Cover::kNone) {
        add(ChangeKind::kGpuGained, Severity::kNote);
      } else if (is == Cover::kJit) {
        add(ChangeKind::kGpuJitOnly, Severity::kWarning);
      } else if (is == Cover::kSameMajor && was == Cover::kOwn) {
        add(ChangeKind::kGpuImplied, Severity::kNote);
      } else {
        add(ChangeKind::kGpuOwn, Severity::kNote);
      }
    }
    const std::string& floor_was = pair.before->floors[i];
    const std::string& floor_is = pair.after->floors[i];
    if (floor_was.empty() || floor_is.empty()) continue;
    if (Number(floor_was) == Number(floor_is)) continue;
    const bool higher = NewerVersion(floor_is, floor_was);
    changes.Add(ChangeKind::kDriverFloor, higher ? Severity::kWarning : Severity::kNote, gpu,
                floor_was, floor_is, pair.after->path);
  }
}

void CompareToolkits(const Pair& pair, Collector& changes) {
  if (pair.before->toolkits == pair.after->toolkits || pair.before->toolkits.empty() ||
      pair.after->toolkits.empty())
    return;
  changes.Add(ChangeKind::kToolkit, Severity::kNote, "CUDA",
              fmt::format("{}", fmt::join(pair.before->toolkits, ", ")),
              fmt::format("{}", fmt::join(pair.after->toolkits, ", ")), pair.after->path);
}

// glibc's own parts, which every system has: since 2.34 they are one.
bool IsPartOfGlibc(const std::string& stem) {
  constexpr std::string_view kParts[] = {"libc.so",  "libm.so",    "libdl.so", "libpthread.so",
                                         "librt.so", "libutil.so", "ld-linux-"};
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return stem.starts_with(part); });
}

void CompareLibraries(const Pair& pair, Collector& changes) {
  std::map<std::string, std::pair<std::string, std::string>> by_stem;
  for (const std::string& library : pair.before->needed) by_stem[Stem(library)].first = library;
  for (const std::string& library : pair.after->needed) by_stem[Stem(library)].second = library;
  for (const auto& [stem, names] : by_stem) {
    const auto& [was, is] = names;
    if (was == is || IsPartOfGlibc(stem)) continue;
    const ChangeKind kind = was.empty()  ? ChangeKind::kLibraryAdded
                            : is.empty() ? ChangeKind::kLibraryRemoved
                                         : ChangeKind::kLibraryVersion;
    const Severity severity =
        kind == ChangeKind::kLibraryRemoved ? Severity::kNote : Severity::kWarning;
    changes.Add(kind, severity, stem, was, is, pair.after->path);
  }
  for (const auto& [family, is] : pair.after->versions) {
    const auto known = pair.before->versions.find(family);
    if (known == pair.before->versions.end() || known->second == is) continue;
    const bool newer = NewerVersion(is, known->second);
    changes.Add(ChangeKind::kLibraryVersion, newer ? Severity::kWarning : Severity::kNote, family,
                known->second, is, pair.after->path);
  }
}

void CompareTorch(const Pair& pair, Collector& changes) {
  if (pair.before->torch == pair.after->torch) return;
  const auto text = [](const std::string& range) { return range.empty() ? "no torch" : range; };
  changes.Add(ChangeKind::kTorchRange, Severity::kWarning, "torch", text(pair.before->torch),
              text(pair.after->torch), pair.after->path);
}

bool Serves(Cover cover) {
  return cover == Cover::kOwn || cover == Cover::kSameMajor || cover == Cover::kJit;
}

// GPUs that files served which are gone or empty now, and that nothing of the new release serves.
void CompareGone(const Unmatched& gone, const Release& after, const std::vector<Gpu>& gpus,
                 Collector& changes) {
  for (size_t i = 0; i < gpus.size(); ++i) {
    const bool maybe =
        std::any_of(after.files.begin(), after.files.end(), [&](const ReleaseFile& file) {
          return i < file.covers.size() && file.covers[i] != Cover::kNone;
        });
    if (maybe) continue;
    for (const ReleaseFile* file : gone) {
      if (i >= file->covers.size() || !Serves(file->covers[i])) continue;
      changes.Add(ChangeKind::kGpuLost, Severity::kError, GpuTarget(gpus[i]),
                  CoverText(file->covers[i]), CoverText(Cover::kNone), file->path);
    }
  }
}

// Two paths that hold nothing of what is compared are wrong paths, sources or logs.
void ReportNothing(const Release& before, const Release& after, Comparison& comparison) {
  if (!before.files.empty() || !after.files.empty() || !comparison.problems.empty()) return;
  for (const Release* side : {&before, &after}) {
    comparison.problems.push_back(
        {ErrorCode::kUsage,
         "has no device code and no library that needs another: nothing to compare (logs of "
         "builds: cuproof resources LOG --write-baseline, then --baseline)",
         side->argument, std::nullopt});
  }
}

std::string TargetsOf(const ReleaseFile& file) {
  std::vector<std::string> targets;
  for (const auto& [target, bytes] : file.bytes) targets.push_back(target);
  return fmt::format("{}", fmt::join(targets, " "));
}

// The same of one kernel in several libraries, as in a package with one for each CUDA, is one
// change.
void MergeKernels(std::vector<Change>& changes) {
  std::map<std::tuple<ChangeKind, std::string, std::string, std::string, std::vector<std::string>>,
           size_t>
      known;
  std::vector<Change> merged;
  for (Change& change : changes) {
    const auto [at, is_new] = known.emplace(
        std::tuple(change.kind, change.subject, change.was, change.is, change.evidence),
        merged.size());
    if (is_new || change.kernel.empty()) {
      merged.push_back(std::move(change));
    } else {
      merged[at->second].files.push_back(change.files.front());
    }
  }
  changes = std::move(merged);
}

std::vector<TargetBytes> CompareBytes(const Release& before, const Release& after) {
  std::map<std::string, TargetBytes> rows;
  for (const ReleaseFile& file : before.files) {
    for (const auto& [target, bytes] : file.bytes) rows[target].was += bytes;
  }
  for (const ReleaseFile& file : after.files) {
    for (const auto& [target, bytes] : file.bytes) rows[target].is += bytes;
  }
  std::vector<TargetBytes> out;
  for (auto& [target, row] : rows) {
    row.target = target;
    out.push_back(row);
  }
  return out;
}

}  // namespace

Comparison Compare(const Release& before, const Release& after, const std::vector<Gpu>& gpus) {
  Comparison comparison;
  comparison.old_name = before.argument;
  comparison.new_name = after.argument;
  for (const Release* side : {&before, &after}) {
    comparison.problems.insert(comparison.problems.end(), side->problems.begin(),
                               side->problems.end());
  }
  Unmatched gone;
  Unmatched come;
  const std::vector<Pair> pairs = Match(before, after, gone, come);
  comparison.files = pairs.size();
  Collector changes;
  for (const Pair& pair : pairs) {
    CompareGpus(pair, gpus, changes);
    CompareToolkits(pair, changes);
    CompareLibraries(pair, changes);
    CompareTorch(pair, changes);
  }
  Unmatched lost = gone;
  for (const Pair& pair : pairs) {
    if (pair.after->covers.empty()) lost.push_back(pair.before);
  }
  CompareGone(lost, after, gpus, changes);
  ReportNothing(before, after, comparison);
  for (const ReleaseFile* file : gone) {
    if (!file->bytes.empty())
      changes.Add(ChangeKind::kFileRemoved, Severity::kWarning, file->key, TargetsOf(*file), "",
                  file->path);
  }
  for (const ReleaseFile* file : come) {
    if (!file->bytes.empty())
      changes.Add(ChangeKind::kFileAdded, Severity::kNote, file->key, "", TargetsOf(*file),
                  file->path);
  }
  comparison.changes = changes.Take();
  for (const Pair& pair : pairs) CompareKernels(*pair.before, *pair.after, comparison);
  MergeKernels(comparison.changes);
  comparison.bytes = CompareBytes(before, after);
  std::stable_sort(comparison.changes.begin(), comparison.changes.end(),
                   [](const Change& a, const Change& b) {
                     return std::tuple(a.kind, -a.weight) < std::tuple(b.kind, -b.weight);
                   });
  return comparison;
}

const char* ChangeKindId(ChangeKind kind) {
  constexpr const char* kIds[] = {
      "gpu-lost",     "gpu-jit-only", "gpu-implied",   "gpu-own",         "gpu-gained",
      "driver-floor", "toolkit",      "library-added", "library-removed", "library-version",
      "torch-range",  "file-added",   "file-removed",  "kernels-added",   "kernels-removed",
      "parameters",   "spills",       "registers"};
  return kIds[static_cast<size_t>(kind)];
}

const char* ChangeKindTitle(ChangeKind kind) {
  constexpr const char* kTitles[] = {"GPUs lost",
                                     "GPUs served by PTX only now",
                                     "GPUs served by another GPU's code now",
                                     "GPUs with code of their own now",
                                     "GPUs gained",
                                     "driver floor",
                                     "compiled with",
                                     "libraries needed now",
                                     "libraries no longer needed",
                                     "versions of libraries",
                                     "torch that it fits",
                                     "files with device code that came",
                                     "files with device code that are gone",
                                     "kernels that came",
                                     "kernels that are gone",
                                     "kernel parameters that changed under the same name",
                                     "spills",
                                     "registers"};
  return kTitles[static_cast<size_t>(kind)];
}

}  // namespace cuproof
