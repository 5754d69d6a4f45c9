// CP508: a process used CUDA behind a fork of one that had used it already.
#include <fmt/format.h>

#include "explain/context.h"

namespace cuproof::explain {
namespace {

constexpr int64_t kNotInitialized = 3;

std::string LaunchesText(const trace::Process& process) {
  const uint64_t launches = trace::KernelLaunches(process);
  const trace::FailedLaunches failed = trace::FailedKernelLaunches(process);
  return fmt::format("{} launch{}, {}{} of them failed", Grouped(launches),
                     launches == 1 ? "" : "es", failed.exact ? "" : "at least ",
                     Grouped(failed.count));
}

}  // namespace

bool IsOfFork(const trace::Process& process, int64_t result) {
  return process.forked && result == kNotInitialized;
}

std::optional<Finding> ExplainFork(const ErrorContext& context) {
  const trace::Process& process = context.process;
  if (!IsOfFork(process, context.error.result)) return std::nullopt;
  Finding finding = NewFinding(context, "CP508", Severity::kError);
  finding.message = fmt::format(
      "{} returned {}: process {} is a fork of {}, which had used the driver before it forked: "
      "CUDA cannot be used in it",
      CallName(context), ErrorText(kNotInitialized), process.pid,
      process.parent ? fmt::format("process {}", process.parent) : "one");
  if (trace::KernelLaunches(process)) finding.evidence.push_back(LaunchesText(process));
  finding.fix =
      "start the workers before the first use of CUDA, or with the start method spawn or "
      "forkserver: multiprocessing.set_start_method(\"spawn\")";
  finding.source = "docs/trace.md; CUDA driver API, CUDA_ERROR_NOT_INITIALIZED";
  finding.verified_on = "by document";
  return finding;
}

}  // namespace cuproof::explain
