// CP504: errors that the GPU found while it worked. The call that returns one is the messenger.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "explain/context.h"

namespace cuproof::explain {
namespace {

using trace::Op;

struct Sticky {
  int64_t result;
  const char* what;
};

// What a context keeps until it is destroyed (CUDA driver API, CUresult: "leaves the process in an
// inconsistent state").
constexpr Sticky kSticky[] = {
    {214, "an uncorrectable memory error (ECC)"},
    {220, "an NVLink error"},
    {226, "a contained error"},
    {700, "an access to an illegal address"},
    {702, "a kernel that ran too long"},
    {710, "a failed assert in a kernel"},
    {714, "an error of the hardware stack"},
    {715, "an illegal instruction"},
    {716, "an access to a misaligned address"},
    {717, "an address in the wrong memory space"},
    {718, "an invalid program counter"},
    {719, "a launch that failed on the GPU"},
    {721, "tensor memory that a kernel did not free"},
};

const Sticky* Find(int64_t result) {
  const auto* found = std::find_if(std::begin(kSticky), std::end(kSticky),
                                   [&](const Sticky& entry) { return entry.result == result; });
  return found == std::end(kSticky) ? nullptr : found;
}

bool IsWork(Op op) {
  return trace::IsKernelLaunch(op) || op == Op::kGraphLaunch || op == Op::kLaunchHostFunc;
}

std::string StreamName(uint32_t stream) {
  return stream ? fmt::format("stream {}", stream) : std::string("the default stream");
}

std::string WorkText(const ErrorContext& context, const trace::Record& record) {
  const Op op = static_cast<Op>(record.op);
  std::string text;
  if (op == Op::kGraphLaunch) {
    text = fmt::format("graph {}", record.aux);
  } else if (op == Op::kLaunchHostFunc) {
    text = "a host function";
  } else {
    text =
        fmt::format("{} ({} x {} x {} blocks of {} x {} x {})",
                    KernelName(context.process, record.function), record.grid_x, record.grid_yz[0],
                    record.grid_yz[1], record.block[0], record.block[1], record.block[2]);
  }
  if (context.error.at.clock > record.clock) {
    if (const auto ns = context.process.clock.DurationNs(context.error.at.clock - record.clock))
      text += fmt::format(", {:.3f} ms before", *ns / 1e6);
  }
  return text;
}

}  // namespace

bool IsSticky(int64_t result) { return Find(result) != nullptr; }

std::vector<std::string> LaunchesInFlight(const ErrorContext& context) {
  constexpr size_t kOfStream = 3;
  constexpr size_t kStreams = 8;
  std::vector<std::string> lines;
  if (!context.process.ring) return lines;
  std::vector<const trace::Record*> calls;
  for (const trace::Call& call : context.process.ring->calls) {
    if (call.record.clock <= context.error.at.clock) calls.push_back(&call.record);
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const auto* a, const auto* b) { return a->clock < b->clock; });
  // By context and stream, oldest first.
  std::map<std::pair<uint16_t, uint32_t>, std::vector<const trace::Record*>> work;
  for (const trace::Record* call : calls) {
    const Op op = static_cast<Op>(call->op);
    if (op == Op::kContextSynchronize && call->result == 0) {
      for (auto& [stream, launches] : work) {
        if (stream.first == call->context) launches.clear();
      }
    } else if (op == Op::kStreamSynchronize && call->result == 0) {
      work[{call->context, call->stream}].clear();
    } else if (IsWork(op) && call->result == 0 && !(call->flags & trace::kCaptured)) {
      work[{call->context, call->stream}].push_back(call);
    }
  }
  size_t left_out = 0;
  for (const auto& [stream, launches] : work) {
    if (launches.empty()) continue;
    if (lines.size() >= kStreams) {
      ++left_out;
      continue;
    }
    std::string line = fmt::format("{}: {} launched and not known to be complete; the last: ",
                                   StreamName(stream.second), launches.size());
    for (size_t i = 0; i < std::min(kOfStream, launches.size()); ++i) {
      if (i) line += "; before it ";
      line += WorkText(context, *launches[launches.size() - 1 - i]);
    }
    lines.push_back(std::move(line));
  }
  if (left_out) lines.push_back(fmt::format("and {} more streams", left_out));
  return lines;
}

std::optional<Finding> ExplainAsynchronous(const ErrorContext& context) {
  const Sticky* sticky = Find(context.error.result);
  if (!sticky) return std::nullopt;
  Finding finding = NewFinding(context, "CP504", Severity::kError);
  finding.message =
      fmt::format("{} returned {}: {}, in work that was started before; the call only reports it",
                  CallName(context), ErrorText(sticky->result), sticky->what);
  finding.evidence = LaunchesInFlight(context);
  if (finding.evidence.empty()) {
    finding.evidence.push_back(
        "no launch that could have been running is among the calls that are still recorded");
  }
  finding.evidence.push_back(
      "every later call in this context returns the same: nothing after it is another fault");
  finding.fix =
      "run it under compute-sanitizer, which names the kernel and the line; or with "
      "CUDA_LAUNCH_BLOCKING=1, so that the launch itself returns the error";
  finding.source = "CUDA driver API, CUresult";
  return finding;
}

}  // namespace cuproof::explain
