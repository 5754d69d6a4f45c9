// Any text as a build's log, a log of failed launches, a baseline and a budget.
#include <algorithm>

#include "diff/gate.h"
#include "diff/log_findings.h"
#include "fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuproof;
  const std::string_view text = ByteView(data, size).Text();
  const PtxasLog log = ReadPtxasLog(text);
  for (const LogKernel& kernel : log.kernels) {
    REQUIRE(kernel.line >= 1 && kernel.line <= log.lines);
    REQUIRE(kernel.resources.name.size() <= size);
  }
  if (!log.kernels.empty() || !log.remarks.empty()) REQUIRE(log.lines > 0);
  std::vector<MeasuredKernel> kernels = KernelsOf(log, "log");
  for (MeasuredKernel& kernel : kernels) {
    Measure(kernel, {});
    StableName(kernel.resources.name);
  }
  FindingsOfRemarks(log, "log");
  FindingsOfFailures(ReadLaunchFailures(text), "log", kernels, {"sm_90"}, {});
  const auto read = ParseBaseline(BaselineText(MakeBaseline(kernels)), "b");
  REQUIRE(read);
  // Names that are not UTF-8 do not come back as they were.
  const bool ascii = std::all_of(text.begin(), text.end(),
                                 [](char c) { return static_cast<signed char>(c) >= 0; });
  if (ascii) REQUIRE(CompareWithBaseline(*read, kernels, {}).empty());
  if (const auto baseline = ParseBaseline(text, "b")) CompareWithBaseline(*baseline, kernels, {});
  if (const auto budgets = ParseBudgetFile(text, "b")) {
    std::vector<Finding> findings = CheckBudgets(*budgets, kernels, {});
    ApplyAllowances(*budgets, kernels, {}, findings);
  }
  return 0;
}
