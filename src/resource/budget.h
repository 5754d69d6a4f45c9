#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/result.h"
#include "resource/measured_kernel.h"

namespace cuproof {

/// What the kernels that a pattern names may take.
struct Budget {
  std::string kernel;  // glob over the name as people read it, or as the compiler writes it
  std::string arch;    // "sm_90"; empty: each
  std::optional<uint32_t> registers;
  std::optional<uint64_t> spills;  // bytes, stores and loads
  std::optional<uint32_t> shared;
  std::optional<uint32_t> stack;
  std::optional<double> occupancy;  // at least, of 1
  std::optional<uint32_t> block;    // threads that must launch
  std::string reason;
  uint32_t line = 0;
};

/// A finding that somebody looked at and accepts.
struct Allowance {
  std::string kernel;  // glob
  std::string id;      // "CP403"; empty: each
  std::string reason;
  std::string until;  // "2027-01-31", the last day; empty: for good
  uint32_t line = 0;
};

struct BudgetFile {
  std::string file;
  std::vector<Budget> budgets;
  std::vector<Allowance> allowances;
};

/// TOML: [[budget]] and [[allow]] tables. An unknown key, a wrong type or a missing reason is an
/// error that names its line.
Result<BudgetFile> ParseBudgetFile(std::string_view text, const std::string& file);

/// True where `pattern` fits the name for people or the mangled one.
bool MatchesKernel(const std::string& pattern, const MeasuredKernel& kernel);

}  // namespace cuproof
