#pragma once
#include <string>
#include <vector>

#include "resource/baseline.h"
#include "resource/budget.h"
#include "resource/measured_kernel.h"
#include "rule/report.h"

namespace cuproof {

/// What a gate asks for besides its files.
struct GateOptions {
  uint32_t block = 0;           // threads that every kernel must launch with; 0: not asked
  uint64_t dynamic_shared = 0;  // bytes of a block
  bool whole = true;            // false: --kernel left kernels out, so none is missed
  std::string today;            // "2026-11-30"
  std::string ptx;              // file whose PTX is compiled again, to price a limit of registers
  std::string ptxas = "ptxas";
  std::vector<uint32_t> gpus;  // that were chosen; empty: every image was read
};

/// Fills in the block, occupancy and largest block of a kernel, for the GPU that its architecture
/// names.
void Measure(MeasuredKernel& kernel, const GateOptions& options);

/// Kernels over their budget: CP401. Budgets that no kernel matches and what cannot be told:
/// CP406, an error where no budget met a kernel.
std::vector<Finding> CheckBudgets(const BudgetFile& file,
                                  const std::vector<MeasuredKernel>& kernels,
                                  const GateOptions& options);

/// What grew, was lost or is gone: CP402 to CP405. What was compared with nothing: CP409, an error
/// where that is everything.
std::vector<Finding> CompareWithBaseline(const Baseline& baseline,
                                         const std::vector<MeasuredKernel>& kernels,
                                         const GateOptions& options);

/// True where `arch`, as "sm_90a", is one of the GPUs that were chosen, or none was.
bool WasChosen(const std::string& arch, const GateOptions& options);

/// Chosen GPUs of which no kernel was read: CP406 of `file`, a budget or a baseline.
std::vector<Finding> GpusNotChecked(const std::string& file, const std::vector<uint32_t>& met,
                                    const GateOptions& options);

/// Takes away what is allowed, and says which allowances have expired or match nothing: CP406.
void ApplyAllowances(const BudgetFile& file, const std::vector<MeasuredKernel>& kernels,
                     const GateOptions& options, std::vector<Finding>& findings);

}  // namespace cuproof
