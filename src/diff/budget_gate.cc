// CP401 and CP406: budgets, and what people have accepted.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diff/gate.h"
#include "diff/gate_finding.h"
#include "resource/launch_limits.h"

namespace cuproof {
namespace {

class BudgetCheck {
 public:
  BudgetCheck(const BudgetFile& file, const Budget& budget, const GateOptions& options,
              std::vector<Finding>& findings)
      : file_(file), budget_(budget), options_(options), findings_(findings) {}

  void Check(MeasuredKernel kernel) {
    if (budget_.block) {
      GateOptions options = options_;
      options.block = *budget_.block;
      Measure(kernel, options);
    }
    const KernelResources& resources = kernel.resources;
    Limit(kernel, "registers a thread", resources.registers, budget_.registers);
    CheckSpills(kernel);
    Limit(kernel, "bytes of static shared memory",
          kernel.shared_known ? std::optional(resources.static_shared) : std::nullopt,
          budget_.shared);
    CheckStack(kernel);
    CheckBlock(kernel);
    CheckOccupancy(kernel);
  }

 private:
  Finding New(const MeasuredKernel& kernel, const char* id, Severity severity) const {
    Finding finding = KernelFinding(kernel, id, severity);
    finding.evidence.push_back(fmt::format("budget of {} line {}: kernel = \"{}\"", file_.file,
                                           budget_.line, budget_.kernel));
    if (!budget_.reason.empty()) finding.evidence.push_back("reason: " + budget_.reason);
    return finding;
  }

  void Over(const MeasuredKernel& kernel, std::string message, std::string fix) {
    Finding finding = New(kernel, "CP401", Severity::kError);
    finding.message = std::move(message);
    finding.fix = std::move(fix);
    findings_.push_back(std::move(finding));
  }

  void Unknown(const MeasuredKernel& kernel, const std::string& what) {
    Finding finding = New(kernel, "CP406", Severity::kWarning);
    finding.message = fmt::format("its budget cannot be checked: {}", what);
    findings_.push_back(std::move(finding));
  }

  template <typename T>
  void Limit(const MeasuredKernel& kernel, const char* what, std::optional<T> value,
             std::optional<T> limit) {
    if (!limit) return;
    if (!value) return Unknown(kernel, fmt::format("{} are not known", what));
    if (*value > *limit)
      Over(kernel, fmt::format("{} {}, its budget is {}", *value, what, *limit), "");
  }

  void CheckStack(const MeasuredKernel& kernel) {
    const auto bytes = StackBytes(kernel.resources);
    const bool least = kernel.resources.recursion || kernel.resources.indirect_calls;
    if (!least || (bytes && budget_.stack && *bytes > *budget_.stack))
      return Limit(kernel, "bytes of stack a thread", bytes, budget_.stack);
    if (budget_.stack) {
      Unknown(kernel, kernel.resources.recursion
                          ? "its stack has no bound: it calls functions that call themselves"
                          : "its stack is not known: it calls through pointers");
    }
  }

  void CheckSpills(const MeasuredKernel& kernel) {
    if (!budget_.spills) return;
    const auto& spills = kernel.resources.spills;
    const bool bound = spills && spills->basis == SpillBasis::kAtMost;
    const uint64_t bytes = spills ? spills->stores + spills->loads : 0;
    if (!spills || (bound && bytes > *budget_.spills)) {
      return Unknown(kernel,
                     "its cubin does not tell how much it spills (compiled before CUDA 12.6)");
    }
    if (bytes <= *budget_.spills) return;
    Over(kernel,
         fmt::format("spills {} bytes a thread ({} of stores, {} of loads), its budget is {}",
                     bytes, spills->stores, spills->loads, *budget_.spills),
         "");
  }

  void CheckBlock(const MeasuredKernel& kernel) {
    if (!budget_.block) return;
    if (!kernel.largest_block) return Unknown(kernel, "its largest block is not known");
    if (*budget_.block <= *kernel.largest_block) return;
    const auto limits = LaunchLimitsOf(SmOf(kernel.arch));
    Over(kernel,
         fmt::format("blocks of {} threads do not launch, its largest is {}", *budget_.block,
                     *kernel.largest_block),
         limits ? fmt::format("__launch_bounds__({}) or -maxrregcount={}", *budget_.block,
                              RegisterCap(*limits, *budget_.block))
                : "");
  }

  void CheckOccupancy(const MeasuredKernel& kernel) {
    if (!budget_.occupancy) return;
    if (!kernel.warps_per_sm || kernel.max_warps == 0) {
      return Unknown(kernel, "its occupancy is not known: give the budget a block");
    }
    const double share = static_cast<double>(*kernel.warps_per_sm) / kernel.max_warps;
    if (share >= *budget_.occupancy) return;
    Over(kernel,
         fmt::format("occupancy {:.2f} in blocks of {} threads ({} of {} warps), its budget is "
                     "{:.2f}",
                     share, kernel.block, *kernel.warps_per_sm, kernel.max_warps,
                     *budget_.occupancy),
         "");
  }

  const BudgetFile& file_;
  const Budget& budget_;
  const GateOptions& options_;
  std::vector<Finding>& findings_;
};

Finding OfGateFile(const std::string& file, std::string message, std::string fix) {
  Finding finding;
  finding.id = "CP406";
  finding.severity = Severity::kWarning;
  finding.file = file;
  finding.message = std::move(message);
  finding.fix = std::move(fix);
  SetSource(finding);
  return finding;
}

Finding OfBudgetFile(const BudgetFile& file, uint32_t line, std::string message, std::string fix) {
  Finding finding = OfGateFile(file.file, std::move(message), std::move(fix));
  finding.subject = fmt::format("line {}", line);
  return finding;
}

// File and subject of the findings about the kernels that a pattern names.
std::set<std::pair<std::string, std::string>> PlacesOf(const std::string& pattern,
                                                       const std::vector<MeasuredKernel>& kernels) {
  std::set<std::pair<std::string, std::string>> places;
  for (const MeasuredKernel& kernel : kernels) {
    if (MatchesKernel(pattern, kernel)) places.emplace(kernel.file, SubjectOf(kernel));
  }
  return places;
}

}  // namespace

std::vector<Finding> CheckBudgets(const BudgetFile& file,
                                  const std::vector<MeasuredKernel>& kernels,
                                  const GateOptions& options) {
  std::vector<Finding> findings;
  bool any_met = false;
  for (const Budget& budget : file.budgets) {
    bool met = false;
    BudgetCheck check(file, budget, options, findings);
    for (const MeasuredKernel& kernel : kernels) {
      if (!kernel.resources.is_entry || !MatchesKernel(budget.kernel, kernel)) continue;
      if (!budget.arch.empty() && budget.arch != kernel.arch) continue;
      met = true;
      check.Check(kernel);
    }
    any_met |= met;
    if (met || !options.whole || !WasChosen(budget.arch, options)) continue;
    findings.push_back(
        OfBudgetFile(file, budget.line,
                     fmt::format("no kernel matches the budget \"{}\"{}", budget.kernel,
                                 budget.arch.empty() ? "" : " for " + budget.arch),
                     "cuproof resources lists the names; a pattern must fit the whole name"));
  }
  if (any_met || file.budgets.empty() || kernels.empty()) return findings;
  findings.push_back(OfGateFile(
      file.file, "no budget of this file fits a kernel that was read: nothing was checked",
      "cuproof resources lists what is there; see also --gpu and --kernel"));
  findings.back().severity = Severity::kError;
  return findings;
}

bool WasChosen(const std::string& arch, const GateOptions& options) {
  return arch.empty() || options.gpus.empty() ||
         std::find(options.gpus.begin(), options.gpus.end(), SmOf(arch)) != options.gpus.end();
}

std::vector<Finding> GpusNotChecked(const std::string& file, const std::vector<uint32_t>& met,
                                    const GateOptions& options) {
  std::vector<Finding> findings;
  for (const uint32_t sm : options.gpus) {
    if (std::find(met.begin(), met.end(), sm) != met.end()) continue;
    findings.push_back(OfGateFile(
        file,
        fmt::format("nothing was checked for sm_{}: no code that was read runs on it as it is", sm),
        "build for it, or leave it out of --gpu"));
    findings.back().subject = fmt::format("sm_{}", sm);
  }
  return findings;
}

void ApplyAllowances(const BudgetFile& file, const std::vector<MeasuredKernel>& kernels,
                     const GateOptions& options, std::vector<Finding>& findings) {
  for (const Allowance& allowance : file.allowances) {
    if (!allowance.until.empty() && allowance.until < options.today) {
      findings.push_back(
          OfBudgetFile(file, allowance.line,
                       fmt::format("the allowance for \"{}\" expired on {}: {}", allowance.kernel,
                                   allowance.until, allowance.reason),
                       "repair the kernel, or set a later date"));
      continue;
    }
    const auto places = PlacesOf(allowance.kernel, kernels);
    const size_t taken = std::erase_if(findings, [&](const Finding& finding) {
      return (allowance.id.empty() || allowance.id == finding.id) &&
             places.contains({finding.file, finding.subject});
    });
    if (taken > 0 || !options.whole || !options.gpus.empty()) continue;
    findings.push_back(OfBudgetFile(
        file, allowance.line,
        fmt::format("the allowance for \"{}\" is not needed any more", allowance.kernel),
        "take it out of the file"));
    findings.back().severity = Severity::kNote;
  }
}

}  // namespace cuproof
