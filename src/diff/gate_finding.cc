#include "diff/gate_finding.h"

#include <algorithm>
#include <charconv>

#include "diff/gate.h"
#include "resource/occupancy.h"

namespace cuproof {

uint32_t SmOf(const std::string& arch) {
  const size_t start = arch.find_first_of("0123456789");
  uint32_t sm = 0;
  if (start != std::string::npos)
    std::from_chars(arch.data() + start, arch.data() + arch.size(), sm);
  return sm;
}

const std::string& ShownName(const MeasuredKernel& kernel) {
  return kernel.demangled.empty() ? kernel.resources.name : kernel.demangled;
}

std::string SubjectOf(const MeasuredKernel& kernel) {
  return kernel.arch.empty() ? ShownName(kernel) : ShownName(kernel) + " for " + kernel.arch;
}

void SetSource(Finding& finding) {
  finding.source = "docs/gate.md";
  finding.verified_on = "tests/gate_test.py";
}

Finding KernelFinding(const MeasuredKernel& kernel, const char* id, Severity severity) {
  Finding finding;
  finding.id = id;
  finding.severity = severity;
  finding.file = kernel.file;
  finding.subject = SubjectOf(kernel);
  finding.source_file = kernel.resources.source_file;
  finding.source_line = kernel.resources.source_line;
  SetSource(finding);
  return finding;
}

void Measure(MeasuredKernel& kernel, const GateOptions& options) {
  const auto limits = LaunchLimitsOf(SmOf(kernel.arch));
  if (!limits || !kernel.resources.registers) return;
  kernel.largest_block = LargestBlock(*limits, kernel.resources, options.dynamic_shared);
  kernel.block = options.block ? options.block : CompiledThreads(kernel.resources);
  kernel.max_warps = WarpsOf(*limits);
  kernel.warps_per_sm.reset();
  if (kernel.block == 0 || !kernel.shared_known) return;
  if (const auto use = UseOf(kernel.resources, kernel.block, options.dynamic_shared))
    kernel.warps_per_sm = OccupancyOf(*limits, *use).warps;
}

}  // namespace cuproof
