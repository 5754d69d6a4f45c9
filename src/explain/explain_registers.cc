// CP502: 701, a block whose registers do not fit.
#include <fmt/format.h>

#include <algorithm>

#include "explain/context.h"

namespace cuproof::explain {
namespace {

constexpr int64_t kOutOfResources = 701;

/// One kernel that the error may be about.
struct Suspect {
  LaunchShape shape;
  KernelFacts facts;
  bool too_large = false;
};

bool FitsNot(const Suspect& suspect, const LaunchLimits& limits) {
  if (!suspect.facts.registers) return false;
  const uint32_t largest =
      LargestBlock(limits, static_cast<uint64_t>(suspect.facts.registers->value));
  return suspect.shape.Threads() > largest;
}

std::vector<Suspect> SuspectsOf(const ErrorContext& context) {
  constexpr size_t kMost = 4096;  // kernel nodes that are looked at
  std::vector<Suspect> suspects;
  if (context.error.block || context.error.kernels.empty()) {
    Suspect suspect;
    suspect.shape.grid = context.error.grid.value_or(trace::Extent{});
    suspect.shape.block = context.error.block.value_or(trace::Extent{});
    suspect.shape.shared = context.error.shared.value_or(0);
    suspect.facts = FactsOf(context, context.error.function);
    suspects.push_back(std::move(suspect));
    return suspects;
  }
  std::map<uint32_t, KernelFacts> known;
  for (const trace::GraphKernel& kernel : context.error.kernels) {
    if (suspects.size() >= kMost) break;
    auto facts = known.find(kernel.function);
    if (facts == known.end())
      facts = known.emplace(kernel.function, FactsOf(context, kernel.function)).first;
    suspects.push_back({{kernel.grid, kernel.block, kernel.shared}, facts->second, false});
  }
  return suspects;
}

std::string FixFor(const Suspect& suspect, uint32_t largest, uint32_t cap) {
  std::vector<std::string> ways;
  if (largest) ways.push_back(fmt::format("launch at most {} threads a block", largest));
  const uint64_t threads = suspect.shape.Threads();
  if (cap) {
    ways.push_back(fmt::format("compile the kernel with __launch_bounds__({}) or -maxrregcount={}",
                               threads, cap));
    if (suspect.facts.ptx.value_or(false)) {
      ways.push_back(
          fmt::format("load its PTX with CU_JIT_MAX_REGISTERS={} or CU_JIT_THREADS_PER_BLOCK={}",
                      cap, threads));
    }
  }
  std::string text;
  for (const std::string& way : ways) text += (text.empty() ? "" : "; or ") + way;
  return text;
}

void Describe(const trace::Run& run, const LaunchLimits& limits, const Suspect& suspect,
              Finding& finding) {
  const auto registers = static_cast<uint64_t>(suspect.facts.registers->value);
  const uint64_t threads = suspect.shape.Threads();
  const uint32_t largest = LargestBlock(limits, registers);
  const uint32_t cap = RegisterCap(limits, threads);
  finding.evidence.push_back(
      fmt::format("{} registers a thread, {}", registers, suspect.facts.registers->source));
  if (largest) {
    finding.evidence.push_back(fmt::format(
        "registers go to whole warps in steps of {}, from {} files of {}: the largest "
        "block that launches is {} threads",
        limits.register_unit, limits.partitions, limits.registers / limits.partitions, largest));
  } else {
    finding.evidence.push_back("not even one warp of it fits");
  }
  if (suspect.facts.max_threads &&
      static_cast<uint64_t>(suspect.facts.max_threads->value) != largest)
    finding.evidence.push_back(fmt::format("the driver's own limit for it: {} threads a block",
                                           suspect.facts.max_threads->value));
  if (cap)
    finding.evidence.push_back(
        fmt::format("{} threads fit with {} registers or fewer", threads, cap));
  if (!suspect.facts.ptx) {
    finding.evidence.push_back(
        run.dump_images
            ? "whether its module holds PTX is not known"
            : "whether its module holds PTX is not known; `cuproof run --dump-images` tells");
  } else {
    finding.evidence.push_back(*suspect.facts.ptx
                                   ? "its module holds PTX: the driver can compile it with a cap"
                                   : "its module holds no PTX: only a new build has other numbers");
  }
  finding.fix = FixFor(suspect, largest, cap);
}

}  // namespace

std::optional<Finding> ExplainRegisters(const ErrorContext& context) {
  if (context.error.result != kOutOfResources) return std::nullopt;
  Finding finding = NewFinding(context, "CP502", Severity::kError);
  const auto limits = LimitsOf(context);
  std::vector<Suspect> suspects = SuspectsOf(context);
  const bool in_graph = !context.error.block && !context.error.kernels.empty();
  const std::string begin =
      fmt::format("{} returned {}", CallName(context), ErrorText(kOutOfResources));
  size_t guilty = suspects.size();
  size_t unknown = 0;
  size_t too_large = 0;
  for (size_t i = 0; limits && i < suspects.size(); ++i) {
    suspects[i].too_large = FitsNot(suspects[i], *limits);
    too_large += suspects[i].too_large;
    unknown += !suspects[i].facts.registers;
    if (suspects[i].too_large && guilty == suspects.size()) guilty = i;
  }
  if (limits && guilty < suspects.size()) {
    const Suspect& suspect = suspects[guilty];
    const auto registers = static_cast<uint64_t>(suspect.facts.registers->value);
    finding.subject = suspect.facts.name;
    const std::string what = in_graph ? fmt::format("kernel node {} of {}, {},", guilty + 1,
                                                    suspects.size(), suspect.facts.name)
                                      : suspect.facts.name;
    finding.message =
        fmt::format("{}: {} wants {} threads of {} registers, {} in all, and {} has {} for a block",
                    begin, what, suspect.shape.Threads(), registers,
                    Grouped(RegistersOfBlock(*limits, registers, suspect.shape.Threads())),
                    GpuText(GpuOf(context)), Grouped(limits->registers));
    finding.evidence.push_back(ShapeText(suspect.shape));
    Describe(context.run, *limits, suspect, finding);
    if (too_large > 1)
      finding.evidence.push_back(
          fmt::format("{} more kernel nodes are too large, too", too_large - 1));
    return finding;
  }
  if (suspects.size() == 1) {
    finding.subject = suspects[0].facts.name;
    finding.evidence.push_back(ShapeText(suspects[0].shape));
    if (suspects[0].facts.max_threads)
      finding.evidence.push_back(fmt::format("the driver's own limit for it: {} threads a block",
                                             suspects[0].facts.max_threads->value));
  }
  const std::string name = suspects.size() == 1 ? suspects[0].facts.name : "the graph";
  if (!limits) {
    finding.message =
        fmt::format("{} for {}; the limits of its GPU are not known{}", begin, name,
                    GpuOf(context) ? "" : ": the program did not ask for its compute capability");
    return finding;
  }
  if (unknown) {
    finding.message = fmt::format(
        "{} for {}; how many registers {} is not known", begin, name,
        suspects.size() == 1 ? "its threads take"
                             : fmt::format("{} of its {} kernels take", unknown, suspects.size()));
    finding.fix = RecordAgain(context.run);
    return finding;
  }
  finding.message =
      fmt::format("{} for {}, although its registers fit; what ran out is not known", begin, name);
  finding.evidence.push_back(
      "other resources that can run out: arguments of too large a size, local memory, barriers");
  return finding;
}

}  // namespace cuproof::explain
