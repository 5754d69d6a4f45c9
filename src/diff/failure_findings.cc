// CP408: launches that failed, and the registers that would let them launch.
#include <fmt/format.h>

#include "bytes/mapped_file.h"
#include "diff/gate_finding.h"
#include "diff/log_findings.h"
#include "diff/register_price.h"
#include "resource/launch_limits.h"

namespace cuproof {
namespace {

constexpr size_t kKernelsShown = 10;
constexpr uint32_t kMostRegisters = 255;  // of a thread

// Kernels of the log that no block of so many threads can be launched of.
void AddSuspects(const std::vector<MeasuredKernel>& kernels, uint32_t threads, Finding& finding) {
  size_t shown = 0;
  for (const MeasuredKernel& kernel : kernels) {
    if (!kernel.resources.is_entry || !kernel.largest_block || *kernel.largest_block >= threads)
      continue;
    if (++shown > kKernelsShown) continue;
    finding.evidence.push_back(fmt::format("{}: {} registers, blocks of at most {} threads",
                                           SubjectOf(kernel), *kernel.resources.registers,
                                           *kernel.largest_block));
  }
  if (shown > kKernelsShown)
    finding.evidence.push_back(fmt::format("and {} more kernels", shown - kKernelsShown));
}

void AddCaps(const std::vector<std::string>& archs, uint32_t threads, Finding& finding) {
  uint32_t least = 0;
  for (const std::string& arch : archs) {
    const auto limits = LaunchLimitsOf(SmOf(arch));
    if (!limits) continue;
    const uint32_t cap = RegisterCap(*limits, threads);
    finding.evidence.push_back(fmt::format(
        "{}: {} threads launch with {} registers a thread or fewer", arch, threads, cap));
    if (least == 0 || cap < least) least = cap;
  }
  if (least == 0) return;
  if (least >= kMostRegisters) {
    finding.message = fmt::format(
        "a launch failed for what its block takes, but {} threads launch with any number of "
        "registers",
        threads);
    finding.fix = fmt::format(
        "name the block of that launch with --block: one of {} fails only where "
        "__launch_bounds__ says fewer",
        threads);
    return;
  }
  finding.fix = fmt::format(
      "__launch_bounds__({}) for the kernel, or -maxrregcount={} for the file", threads, least);
}

// Compiles the PTX that the user named within the limit of each architecture.
void AddPrice(const std::vector<std::string>& archs, uint32_t threads, const GateOptions& options,
              Finding& finding) {
  if (options.ptx.empty()) return;
  const auto file = MappedFile::Open(options.ptx);
  if (!file) {
    finding.evidence.push_back("no price: " + file.error().Text());
    return;
  }
  for (const std::string& arch : archs) {
    const auto limits = LaunchLimitsOf(SmOf(arch));
    const uint32_t cap = limits ? RegisterCap(*limits, threads) : 0;
    if (cap == 0) continue;
    auto lines = RegisterPrice(file->bytes(), options.ptxas, arch, cap);
    if (!lines) {
      finding.evidence.push_back("no price: " + lines.error().Text());
      continue;
    }
    std::move(lines->begin(), lines->end(), std::back_inserter(finding.evidence));
  }
}

void DescribeShared(const LaunchFailure& failure, Finding& finding) {
  finding.message = "a kernel asked for more shared memory than a block may have";
  if (failure.shared_limit > 0) {
    finding.message +=
        fmt::format(": {} bytes, the GPU has {}", failure.shared_required, failure.shared_limit);
  }
  finding.fix = "fewer stages (num_stages) or smaller tiles";
}

}  // namespace

std::vector<Finding> FindingsOfFailures(const std::vector<LaunchFailure>& failures,
                                        const std::string& file,
                                        const std::vector<MeasuredKernel>& kernels,
                                        const std::vector<std::string>& archs,
                                        const GateOptions& options) {
  std::vector<Finding> findings;
  for (const LaunchFailure& failure : failures) {
    Finding finding;
    finding.id = "CP408";
    finding.severity = Severity::kError;
    finding.file = file;
    finding.subject = fmt::format("line {}", failure.line);
    finding.evidence.push_back(fmt::format("line {}: {}", failure.line, failure.text));
    finding.source = "docs/design.md: registers of a block";
    finding.verified_on = "H200 r580: src/resource/launch_limits_test.cc";
    const uint32_t threads = options.block ? options.block : failure.threads;
    if (failure.shared_required > 0) {
      DescribeShared(failure, finding);
    } else if (threads == 0) {
      finding.message = "a launch failed: its block takes more registers than a multiprocessor has";
      finding.fix = "say the size of the block with --block, to learn the registers that launch";
    } else {
      finding.message = fmt::format(
          "a launch in blocks of {} threads failed: they take more registers than a "
          "multiprocessor has",
          threads);
      if (!options.block)
        finding.evidence.push_back(
            fmt::format("{} threads by line {}", threads, failure.threads_line));
      AddCaps(archs, threads, finding);
      AddPrice(archs, threads, options, finding);
      AddSuspects(kernels, threads, finding);
      if (finding.fix.empty())
        finding.fix = "say the GPU with --gpu, to learn the registers that launch";
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace cuproof
