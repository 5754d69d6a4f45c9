// Kernels of two files that stand for each other.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "diff/compare.h"
#include "resource/measured_kernel.h"
#include "symbol/demangle.h"

namespace cuproof {
namespace {

constexpr size_t kNamesShown = 10;

struct Key {
  std::string name;
  std::string arch;
  auto operator<=>(const Key&) const = default;
};

bool SameLayout(const KernelResources& a, const KernelResources& b) {
  const auto same = [](const KernelParameter& x, const KernelParameter& y) {
    return x.ordinal == y.ordinal && x.offset == y.offset && x.size == y.size;
  };
  return a.parameters.size() == b.parameters.size() &&
         std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(), same);
}

bool SameNumbers(const KernelResources& a, const KernelResources& b) {
  const auto spills = [](const KernelResources& kernel) {
    return kernel.spills ? std::tuple(true, kernel.spills->stores, kernel.spills->loads)
                         : std::tuple(false, uint64_t{0}, uint64_t{0});
  };
  return a.registers == b.registers && spills(a) == spills(b) && SameLayout(a, b);
}

// Of two with one name: the one that was linked, where the other is the same before its device link
// (then it has no constant bank yet); any, where both say the same (a template that several sources
// use); null where they differ, as static kernels of several sources do.
const KernelRow* OneOf(const KernelRow* known, const KernelRow* other) {
  if (!known) return nullptr;
  const bool linked = !known->resources.constants.empty();
  const bool other_linked = !other->resources.constants.empty();
  if (linked != other_linked) return linked ? known : other;
  return SameNumbers(known->resources, other->resources) ? known : nullptr;
}

std::map<Key, const KernelRow*> ByKey(const FileKernels& file) {
  std::map<Key, const KernelRow*> rows;
  for (const KernelRow& row : file.kernels) {
    if (!row.resources.is_entry) continue;
    const auto [at, is_new] = rows.emplace(Key{StableName(*row.name), ArchText(row.arch)}, &row);
    if (!is_new) at->second = OneOf(at->second, &row);
  }
  return rows;
}

std::set<std::string> NamesOf(const std::map<Key, const KernelRow*>& rows) {
  std::set<std::string> names;
  for (const auto& [key, row] : rows) names.insert(key.name);
  return names;
}

std::string LayoutText(const KernelResources& kernel) {
  const size_t count = kernel.parameters.size();
  return fmt::format("{} {} in {} bytes", count, count == 1 ? "parameter" : "parameters",
                     kernel.parameter_bytes);
}

std::vector<std::string> LayoutChanges(const KernelResources& was, const KernelResources& is) {
  const size_t count = std::max(was.parameters.size(), is.parameters.size());
  std::vector<std::string> lines;
  const auto text = [](const std::vector<KernelParameter>& all, size_t i) {
    return i < all.size() ? fmt::format("{} bytes at offset {}", all[i].size, all[i].offset)
                          : std::string("none");
  };
  for (size_t i = 0; i < count && lines.size() < kNamesShown; ++i) {
    const std::string before = text(was.parameters, i);
    const std::string after = text(is.parameters, i);
    if (before != after) lines.push_back(fmt::format("parameter {}: {}, was {}", i, after, before));
  }
  return lines;
}

class KernelComparer {
 public:
  KernelComparer(const std::string& file, Comparison& comparison)
      : file_(file), comparison_(comparison) {}

  void Compare(const Key& key, const KernelRow& before, const KernelRow& after) {
    ++comparison_.kernels;
    const KernelResources& was = before.resources;
    const KernelResources& is = after.resources;
    if (!SameLayout(was, is) && told_.insert(key.name).second) {
      Change& change = Add(ChangeKind::kParameters, Severity::kWarning, *after.name, "",
                           LayoutText(was), LayoutText(is));
      change.evidence = LayoutChanges(was, is);
    }
    const bool spilled = CompareSpills(key, before, after);
    const bool counted = was.registers && is.registers && *was.registers != *is.registers;
    if (counted) {
      const int64_t grown = int64_t{*is.registers} - int64_t{*was.registers};
      Add(ChangeKind::kRegisters, Severity::kNote, *after.name, key.arch,
          fmt::format("{}", *was.registers), fmt::format("{}", *is.registers))
          .weight = grown;
    }
    if (spilled || counted) ++comparison_.kernels_changed;
  }

 private:
  bool CompareSpills(const Key& key, const KernelRow& before, const KernelRow& after) {
    const auto& was = before.resources.spills;
    const auto& is = after.resources.spills;
    if (!was || !is || was->basis == SpillBasis::kAtMost || is->basis == SpillBasis::kAtMost)
      return false;
    const uint64_t old_bytes = was->stores + was->loads;
    const uint64_t new_bytes = is->stores + is->loads;
    if (old_bytes == new_bytes) return false;
    Add(ChangeKind::kSpills, new_bytes > old_bytes ? Severity::kWarning : Severity::kNote,
        *after.name, key.arch, fmt::format("{} bytes", old_bytes),
        fmt::format("{} bytes", new_bytes))
        .weight = static_cast<int64_t>(new_bytes) - static_cast<int64_t>(old_bytes);
    return true;
  }

  Change& Add(ChangeKind kind, Severity severity, const std::string& name, const std::string& arch,
              std::string was, std::string is) {
    Change change;
    change.kind = kind;
    change.severity = severity;
    change.subject = DemangledOrSame(name);
    change.was = std::move(was);
    change.is = std::move(is);
    change.files = {file_};
    change.kernel = name;
    if (!arch.empty()) {
      change.arch = "sm_" + arch;
      change.subject += " for " + change.arch;
    }
    comparison_.changes.push_back(std::move(change));
    return comparison_.changes.back();
  }

  const std::string& file_;
  Comparison& comparison_;
  std::set<std::string> told_;
};

void AddNames(ChangeKind kind, Severity severity, const std::set<std::string>& names,
              const std::set<std::string>& others, const std::string& file,
              Comparison& comparison) {
  std::vector<std::string> only;
  std::set_difference(names.begin(), names.end(), others.begin(), others.end(),
                      std::back_inserter(only));
  if (only.empty()) return;
  Change change;
  change.kind = kind;
  change.severity = severity;
  change.subject = fmt::format("{} of {} kernels", only.size(), names.size());
  change.files = {file};
  for (size_t i = 0; i < std::min(kNamesShown, only.size()); ++i)
    change.evidence.push_back(DemangledOrSame(only[i]));
  if (only.size() > kNamesShown)
    change.evidence.push_back(fmt::format("and {} more", only.size() - kNamesShown));
  // A package with a library for each CUDA says the same of all of them.
  for (Change& known : comparison.changes) {
    if (known.kind != kind || known.subject != change.subject || known.evidence != change.evidence)
      continue;
    known.files.push_back(file);
    return;
  }
  comparison.changes.push_back(std::move(change));
}

}  // namespace

void CompareKernels(const ReleaseFile& before, const ReleaseFile& after, Comparison& comparison) {
  if (!before.kernels || !after.kernels) return;
  const auto was = ByKey(*before.kernels);
  const auto is = ByKey(*after.kernels);
  if (was.empty() || is.empty()) return;
  const std::set<std::string> old_names = NamesOf(was);
  const std::set<std::string> new_names = NamesOf(is);
  AddNames(ChangeKind::kKernelsAdded, Severity::kNote, new_names, old_names, after.path,
           comparison);
  AddNames(ChangeKind::kKernelsRemoved, Severity::kNote, old_names, new_names, after.path,
           comparison);
  KernelComparer comparer(after.path, comparison);
  for (const auto& [key, row] : was) {
    const auto other = is.find(key);
    if (row && other != is.end() && other->second) comparer.Compare(key, *row, *other->second);
  }
}

}  // namespace cuproof
