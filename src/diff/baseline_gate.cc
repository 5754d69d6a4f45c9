// CP402 to CP405: what a build takes that the baseline did not.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "diff/gate.h"
#include "diff/gate_finding.h"
#include "resource/launch_limits.h"
#include "resource/occupancy.h"

namespace cuproof {
namespace {

constexpr const char* kAccept = "if it is meant, write the baseline again with --write-baseline";

using Key = std::tuple<std::string, std::string, std::string>;  // file, name, arch

// One row of the baseline and the kernel that has taken its place, with the row it would have now.
struct Pair {
  const BaselineKernel& was;
  const BaselineKernel& is;
  const MeasuredKernel& kernel;
};

uint64_t Allocated(const LaunchLimits& limits, uint32_t registers) {
  return RegistersOfWarp(limits, registers) / 32;
}

uint64_t WarpsThatFit(const LaunchLimits& limits, uint32_t registers) {
  const uint64_t warp = RegistersOfWarp(limits, registers);
  const uint64_t fit = warp ? limits.registers / limits.partitions / warp * limits.partitions : 0;
  return std::min<uint64_t>(fit, WarpsOf(limits));
}

// Above the largest block that launches, where a block is known.
bool NoLongerLaunches(const Pair& pair) {
  return pair.kernel.block && pair.kernel.largest_block &&
         pair.kernel.block > *pair.kernel.largest_block;
}

void CompareRegisters(const Pair& pair, std::vector<Finding>& findings) {
  if (!pair.was.registers || !pair.is.registers || *pair.is.registers <= *pair.was.registers)
    return;
  Finding finding = KernelFinding(pair.kernel, "CP402", Severity::kWarning);
  finding.message = fmt::format("{} registers a thread, {} in the baseline", *pair.is.registers,
                                *pair.was.registers);
  const auto limits = LaunchLimitsOf(SmOf(pair.kernel.arch));
  if (limits) {
    const uint64_t was = Allocated(*limits, *pair.was.registers);
    const uint64_t is = Allocated(*limits, *pair.is.registers);
    const uint32_t was_largest = LargestBlock(*limits, *pair.was.registers);
    const uint32_t is_largest = LargestBlock(*limits, *pair.is.registers);
    if (was == is) {
      finding.severity = Severity::kNote;
      finding.evidence.push_back(
          fmt::format("both take {} a thread, as registers go to warps in steps of {}: nothing "
                      "changes at run time",
                      is, limits->register_unit));
    }
    const uint64_t was_warps = WarpsThatFit(*limits, *pair.was.registers);
    const uint64_t is_warps = WarpsThatFit(*limits, *pair.is.registers);
    if (was != is && is_largest == was_largest && is_warps == was_warps) {
      finding.severity = Severity::kNote;
      finding.evidence.push_back(
          fmt::format("both leave registers for {} warps a multiprocessor: nothing changes at run "
                      "time",
                      is_warps));
    }
    if (is_largest < was_largest) {
      finding.evidence.push_back(fmt::format("the largest block that launches: {} threads, was {}",
                                             is_largest, was_largest));
    }
    if (is_warps != was_warps) {
      finding.evidence.push_back(fmt::format(
          "registers for at most {} warps a multiprocessor, was {}", is_warps, was_warps));
    }
    if (NoLongerLaunches(pair)) {
      finding.severity = Severity::kError;
      finding.message += fmt::format(": blocks of {} threads no longer launch", pair.kernel.block);
      finding.fix = fmt::format("__launch_bounds__({}) or -maxrregcount={}", pair.kernel.block,
                                RegisterCap(*limits, pair.kernel.block));
    }
  }
  if (finding.fix.empty()) finding.fix = kAccept;
  findings.push_back(std::move(finding));
}

void CompareSpills(const Pair& pair, std::vector<Finding>& findings) {
  Finding finding = KernelFinding(pair.kernel, "CP403", Severity::kError);
  finding.fix = fmt::format("give it more registers or less to hold at once; {}", kAccept);
  if (pair.was.spills && pair.is.spills) {
    if (*pair.is.spills <= *pair.was.spills) return;
    const Spills& spills = *pair.kernel.resources.spills;
    finding.message =
        *pair.was.spills == 0
            ? fmt::format("spills {} bytes a thread, none in the baseline", *pair.is.spills)
            : fmt::format("spills {} bytes a thread, {} in the baseline", *pair.is.spills,
                          *pair.was.spills);
    finding.evidence.push_back(
        fmt::format("{} bytes of stores, {} of loads", spills.stores, spills.loads));
  } else {
    // No annotations: a larger stack is spills or a local array.
    if (!pair.was.stack || !pair.is.stack || *pair.is.stack <= *pair.was.stack) return;
    finding.severity = Severity::kWarning;
    finding.message = fmt::format("a stack frame of {} bytes a thread, {} in the baseline",
                                  *pair.is.stack, *pair.was.stack);
    finding.evidence.emplace_back(
        "spills or local arrays: compilers before CUDA 12.6 leave no annotations to tell them "
        "apart");
  }
  findings.push_back(std::move(finding));
}

void CompareOccupancy(const Pair& pair, std::vector<Finding>& findings) {
  if (!pair.was.warps_per_sm || !pair.is.warps_per_sm || pair.was.block != pair.is.block ||
      *pair.is.warps_per_sm >= *pair.was.warps_per_sm)
    return;
  Finding finding = KernelFinding(pair.kernel, "CP404", Severity::kError);
  finding.message =
      fmt::format("{} warps a multiprocessor in blocks of {} threads, {} in the baseline",
                  *pair.is.warps_per_sm, pair.is.block, *pair.was.warps_per_sm);
  const auto changed = [&](const char* what, std::optional<uint32_t> was,
                           std::optional<uint32_t> is) {
    if (was && is && *was != *is)
      finding.evidence.push_back(fmt::format("{}: {}, was {}", what, *is, *was));
  };
  changed("registers a thread", pair.was.registers, pair.is.registers);
  changed("bytes of static shared memory", pair.was.shared, pair.is.shared);
  finding.fix = kAccept;
  findings.push_back(std::move(finding));
}

void ReportVanished(const std::vector<const BaselineKernel*>& gone,
                    const std::set<std::pair<std::string, std::string>>& present,
                    std::vector<Finding>& findings) {
  constexpr size_t kShown = 5;
  std::map<std::pair<std::string, std::string>, std::vector<const BaselineKernel*>> groups;
  for (const BaselineKernel* row : gone) groups[{row->file, row->arch}].push_back(row);
  for (const auto& [place, rows] : groups) {
    Finding finding;
    finding.id = "CP405";
    finding.severity = Severity::kWarning;
    finding.file = place.first;
    finding.subject = place.second;
    const bool all = !present.contains(place);
    const char* const plural = rows.size() == 1 ? "" : "s";
    finding.message = all ? fmt::format("all {} kernel{} for {} of the baseline are gone",
                                        rows.size(), plural, place.second)
                          : fmt::format("{} kernel{} for {} of the baseline {} gone", rows.size(),
                                        plural, place.second, rows.size() == 1 ? "is" : "are");
    for (size_t i = 0; i < std::min(kShown, rows.size()); ++i)
      finding.evidence.push_back(rows[i]->name);
    if (rows.size() > kShown)
      finding.evidence.push_back(fmt::format("and {} more", rows.size() - kShown));
    finding.fix = kAccept;
    SetSource(finding);
    findings.push_back(std::move(finding));
  }
}

Finding Uncompared(const std::string& file, Severity severity, std::string message) {
  Finding finding;
  finding.id = "CP409";
  finding.severity = severity;
  finding.file = file;
  finding.message = std::move(message);
  finding.fix = kAccept;
  SetSource(finding);
  return finding;
}

// Of each file and architecture, the kernels that no row of the baseline was compared with.
void ReportNew(const std::vector<BaselineKernel>& rows, const std::set<const BaselineKernel*>& met,
               std::vector<Finding>& findings) {
  constexpr size_t kShown = 5;
  std::map<std::pair<std::string, std::string>, std::vector<const BaselineKernel*>> groups;
  for (const BaselineKernel& row : rows) {
    if (!met.contains(&row)) groups[{row.file, row.arch}].push_back(&row);
  }
  for (const auto& [place, kernels] : groups) {
    const bool one = kernels.size() == 1;
    Finding finding =
        Uncompared(place.first, Severity::kNote,
                   fmt::format("{} kernel{} for {} {} not in the baseline: compared with nothing",
                               kernels.size(), one ? "" : "s", place.second, one ? "is" : "are"));
    finding.subject = place.second;
    for (size_t i = 0; i < std::min(kShown, kernels.size()); ++i)
      finding.evidence.push_back(kernels[i]->name);
    if (kernels.size() > kShown)
      finding.evidence.push_back(fmt::format("and {} more", kernels.size() - kShown));
    findings.push_back(std::move(finding));
  }
}

// The kernels of now, by key; and by name and architecture, for files that were renamed.
class Now {
 public:
  explicit Now(const std::vector<MeasuredKernel>& kernels) : rows_(MakeBaseline(kernels).kernels) {
    const auto files = StableFiles(kernels);
    for (const MeasuredKernel& kernel : kernels) {
      if (!kernel.resources.is_entry) continue;
      const Key key = {files.at(kernel.file), StableName(kernel.resources.name), kernel.arch};
      const auto [at, is_new] = kernels_.emplace(key, &kernel);
      // Of several with one name, the one with the most registers stands for them, as in the row.
      if (!is_new && kernel.resources.registers > at->second->resources.registers)
        at->second = &kernel;
    }
    for (const BaselineKernel& row : rows_) {
      by_key_.emplace(Key{row.file, row.name, row.arch}, &row);
      by_name_[{row.name, row.arch}].push_back(&row);
      present_.emplace(row.file, row.arch);
    }
  }

  const BaselineKernel* Find(const BaselineKernel& was) const {
    const auto same = by_key_.find({was.file, was.name, was.arch});
    if (same != by_key_.end()) return same->second;
    const auto renamed = by_name_.find({was.name, was.arch});
    return renamed != by_name_.end() && renamed->second.size() == 1 ? renamed->second.front()
                                                                    : nullptr;
  }

  const MeasuredKernel& KernelOf(const BaselineKernel& row) const {
    return *kernels_.at({row.file, row.name, row.arch});
  }

  const std::set<std::pair<std::string, std::string>>& present() const { return present_; }
  const std::vector<BaselineKernel>& rows() const { return rows_; }

 private:
  std::vector<BaselineKernel> rows_;
  std::map<Key, const MeasuredKernel*> kernels_;
  std::map<Key, const BaselineKernel*> by_key_;
  std::map<std::pair<std::string, std::string>, std::vector<const BaselineKernel*>> by_name_;
  std::set<std::pair<std::string, std::string>> present_;  // file and arch
};

}  // namespace

std::vector<Finding> CompareWithBaseline(const Baseline& baseline,
                                         const std::vector<MeasuredKernel>& kernels,
                                         const GateOptions& options) {
  std::vector<Finding> findings;
  std::vector<const BaselineKernel*> gone;
  std::set<const BaselineKernel*> met;
  const Now now(kernels);
  for (const BaselineKernel& was : baseline.kernels) {
    const BaselineKernel* const is = now.Find(was);
    if (!is) {
      if (options.whole && WasChosen(was.arch, options)) gone.push_back(&was);
      continue;
    }
    met.insert(is);
    const Pair pair{was, *is, now.KernelOf(*is)};
    CompareRegisters(pair, findings);
    CompareSpills(pair, findings);
    CompareOccupancy(pair, findings);
  }
  ReportVanished(gone, now.present(), findings);
  if (met.empty() && !now.rows().empty()) {
    findings.push_back(Uncompared(
        "", Severity::kError,
        fmt::format("none of the {} kernels that were read is among the {} of the baseline: "
                    "nothing was compared",
                    now.rows().size(), baseline.kernels.size())));
  } else {
    ReportNew(now.rows(), met, findings);
  }
  return findings;
}

}  // namespace cuproof
