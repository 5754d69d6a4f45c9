// CP505, CP506 and CP507: launch forms that the GPU cannot take, memory, and every other error.
#include <fmt/format.h>

#include "explain/context.h"

namespace cuproof::explain {
namespace {

constexpr int64_t kOutOfMemory = 2;
constexpr int64_t kCooperativeTooLarge = 720;
constexpr int64_t kClusterSize = 912;
constexpr int64_t kMultiprocessors = 16;  // CUdevice_attribute

void AddShape(const ErrorContext& context, Finding& finding) {
  const trace::ApiError& error = context.error;
  if (error.function) finding.subject = KernelName(context.process, error.function);
  if (error.grid || error.block)
    finding.evidence.push_back(
        ShapeText({error.grid.value_or(trace::Extent{}), error.block.value_or(trace::Extent{}),
                   error.shared.value_or(0)}));
}

std::string For(const Finding& finding) {
  return finding.subject.empty() ? std::string() : " for " + finding.subject;
}

}  // namespace

std::optional<Finding> ExplainLaunchForm(const ErrorContext& context) {
  const int64_t result = context.error.result;
  if (result != kCooperativeTooLarge && result != kClusterSize) return std::nullopt;
  Finding finding = NewFinding(context, "CP505", Severity::kError);
  AddShape(context, finding);
  const std::string begin =
      fmt::format("{} returned {}{}", CallName(context), ErrorText(result), For(finding));
  finding.verified_on = "by document";
  if (result == kClusterSize) {
    finding.message = begin + ": the GPU cannot place a cluster of that size";
    finding.evidence.push_back(
        "8 blocks is what every GPU with clusters takes; the launch's own cluster size is not "
        "recorded");
    finding.fix =
        "ask cuOccupancyMaxPotentialClusterSize; more than 8 needs "
        "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED";
    return finding;
  }
  finding.message = begin + ": the blocks of a cooperative launch must all run at once";
  if (const auto count = DeviceAttribute(context, kMultiprocessors); count && *count > 0)
    finding.evidence.push_back(
        fmt::format("{} has {} multiprocessors; how many blocks fit on each "
                    "is not recorded",
                    GpuText(GpuOf(context)), *count));
  finding.fix =
      "ask cuOccupancyMaxActiveBlocksPerMultiprocessor, and launch at most that many times the "
      "number of multiprocessors";
  return finding;
}

std::optional<Finding> ExplainMemory(const ErrorContext& context) {
  if (context.error.result != kOutOfMemory) return std::nullopt;
  // Allocators try, free what they keep, and try again: what fails once is no fault.
  Finding finding = NewFinding(context, "CP506", Severity::kWarning);
  AddShape(context, finding);
  finding.message = fmt::format("{} returned {}{}: memory ran out", CallName(context),
                                ErrorText(kOutOfMemory), For(finding));
  finding.evidence.push_back(
      "an allocator may have tried again with success; who holds the memory is not recorded");
  finding.verified_on = "by document";
  return finding;
}

Finding ExplainOther(const ErrorContext& context) {
  Finding finding = NewFinding(context, "CP507", Severity::kNote);
  AddShape(context, finding);
  finding.message = fmt::format("{} returned {}{}", CallName(context),
                                ErrorText(context.error.result), For(finding));
  if (context.error.capture) {
    const auto capture = context.process.captures.find(context.error.capture);
    finding.evidence.push_back(
        capture == context.process.captures.end() || capture->second.mode.empty()
            ? fmt::format("during capture {}", context.error.capture)
            : fmt::format("during capture {} ({})", context.error.capture, capture->second.mode));
  }
  finding.verified_on = "by document";
  return finding;
}

}  // namespace cuproof::explain
