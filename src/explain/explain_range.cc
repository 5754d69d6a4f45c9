// CP503: 1 on a launch, a number that is out of range.
#include <fmt/format.h>

#include <algorithm>

#include "explain/context.h"

namespace cuproof::explain {
namespace {

constexpr int64_t kInvalidValue = 1;

struct Fault {
  std::string what;  // a clause: "a block of 2048 threads, and 1024 is the most"
  std::string fix;
};

// A clause for each number that is out of range; the first is what the driver met first.
class Faults {
 public:
  Faults(const ErrorContext& context, const LaunchShape& shape, const KernelFacts& kernel)
      : context_(context), shape_(shape), kernel_(kernel) {
    Dimensions();
    Threads();
    SharedMemory();
  }

  const std::vector<Fault>& found() const { return found_; }
  const std::vector<std::string>& not_known() const { return not_known_; }

 private:
  void Dimensions() {
    for (size_t i = 0; i < 3; ++i) {
      One("grid", i, shape_.grid[i], kMaxGrid[i]);
      One("block", i, shape_.block[i], kMaxBlock[i]);
    }
  }

  void One(const char* of, size_t axis, uint64_t value, uint64_t most) {
    if (value == 0) {
      found_.push_back(
          {fmt::format("{}.{} is 0", of, "xyz"[axis]), "launch nothing where there is no work"});
    } else if (value > most) {
      found_.push_back({fmt::format("{}.{} is {}, and {} is the most", of, "xyz"[axis],
                                    Grouped(value), Grouped(most)),
                        axis == 0 ? "use a smaller block"
                                  : fmt::format("put the long dimension of the {} into x", of)});
    }
  }

  void Threads() {
    const uint64_t threads = shape_.Threads();
    if (threads > 1024) {
      found_.push_back(
          {fmt::format("the block has {} threads, and 1,024 is the most", Grouped(threads)),
           "launch at most 1024 threads a block"});
      return;
    }
    if (kernel_.compiled_threads) {
      const auto most = static_cast<uint64_t>(kernel_.compiled_threads->value);
      if (threads > most) AddCompiled(threads, most, kernel_.compiled_threads->source);
      return;
    }
    if (!kernel_.max_threads) {
      not_known_.push_back("for how many threads a block the kernel was compiled");
      return;
    }
    // The driver's limit is the least of registers and launch bounds. Too many registers are 701;
    // so where the registers fit, it is the bounds.
    const auto most = static_cast<uint64_t>(kernel_.max_threads->value);
    const auto limits = LimitsOf(context_);
    const bool registers_fit =
        limits && kernel_.registers &&
        threads <= LargestBlock(*limits, static_cast<uint64_t>(kernel_.registers->value));
    if (threads > most && registers_fit) AddCompiled(threads, most, kernel_.max_threads->source);
  }

  void AddCompiled(uint64_t threads, uint64_t most, const std::string& source) {
    found_.push_back(
        {fmt::format("the block has {} threads, and the kernel was compiled for {} at most ({})",
                     threads, most, source),
         fmt::format("launch at most {} threads a block, or compile it with __launch_bounds__({})",
                     most, threads)});
  }

  void SharedMemory() {
    const auto limits = LimitsOf(context_);
    if (shape_.shared == 0) return;
    if (!limits) {
      not_known_.push_back(
          "how much shared memory the GPU has: its compute capability was not asked "
          "for");
      return;
    }
    const uint64_t fixed =
        kernel_.static_shared ? static_cast<uint64_t>(kernel_.static_shared->value) : 0;
    const uint64_t all = fixed + shape_.shared;
    const std::string sum =
        fixed ? fmt::format("{} bytes of dynamic and {} of static shared memory",
                            Grouped(shape_.shared), Grouped(fixed))
              : fmt::format("{} bytes of dynamic shared memory", Grouped(shape_.shared));
    if (all > limits->shared_optin) {
      found_.push_back(
          {fmt::format("{}, and a block on {} can have {}", sum, GpuText(GpuOf(context_)),
                       Grouped(limits->shared_optin)),
           fmt::format("use at most {} bytes of shared memory a block",
                       limits->shared_optin - std::min<uint64_t>(fixed, limits->shared_optin))});
      return;
    }
    const uint64_t allowed = std::max<uint64_t>(
        limits->shared_default - std::min<uint64_t>(fixed, limits->shared_default),
        kernel_.dynamic_limit ? static_cast<uint64_t>(kernel_.dynamic_limit->value) : 0);
    if (shape_.shared > allowed) {
      found_.push_back(
          {fmt::format("{}, and {} is the most {}", sum, Grouped(allowed),
                       kernel_.dynamic_limit && kernel_.dynamic_limit->value > 0
                           ? fmt::format("({})", kernel_.dynamic_limit->source)
                           : "without opt-in"),
           fmt::format("call cuFuncSetAttribute(kernel, "
                       "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, {}) first, or in the "
                       "runtime cudaFuncSetAttribute; {} can have {}",
                       shape_.shared, GpuText(GpuOf(context_)), Grouped(limits->shared_optin))});
    }
  }

  const ErrorContext& context_;
  const LaunchShape& shape_;
  const KernelFacts& kernel_;
  std::vector<Fault> found_;
  std::vector<std::string> not_known_;
};

}  // namespace

std::optional<Finding> ExplainRange(const ErrorContext& context) {
  const trace::ApiError& error = context.error;
  if (error.result != kInvalidValue || (!error.block && error.kernels.empty())) return std::nullopt;
  std::vector<trace::GraphKernel> kernels = error.kernels;
  if (error.block)
    kernels = {{error.function, error.grid.value_or(trace::Extent{}), *error.block,
                error.shared.value_or(0)}};
  Finding finding = NewFinding(context, "CP503", Severity::kError);
  const std::string begin =
      fmt::format("{} returned {}", CallName(context), ErrorText(kInvalidValue));
  std::vector<std::string> not_known;
  constexpr size_t kMost = 4096;
  for (size_t i = 0; i < std::min(kMost, kernels.size()); ++i) {
    const LaunchShape shape{kernels[i].grid, kernels[i].block, kernels[i].shared};
    const KernelFacts facts = FactsOf(context, kernels[i].function);
    const Faults faults(context, shape, facts);
    if (not_known.empty()) not_known = faults.not_known();
    if (i == 0) {
      finding.subject = facts.name;
      finding.evidence = {ShapeText(shape)};
    }
    if (faults.found().empty()) continue;
    finding.subject = facts.name;
    finding.message =
        fmt::format("{} for {}{}: {}", begin,
                    error.block ? "" : fmt::format("kernel node {} of {}, ", i + 1, kernels.size()),
                    facts.name, faults.found()[0].what);
    finding.evidence = {ShapeText(shape)};
    for (size_t other = 1; other < faults.found().size(); ++other)
      finding.evidence.push_back("also: " + faults.found()[other].what);
    finding.fix = faults.found()[0].fix;
    return finding;
  }
  finding.message = fmt::format(
      "{} for {}; which argument it is about is not known: grid, block and shared memory are "
      "within "
      "the limits that are known",
      begin, finding.subject);
  for (const std::string& what : not_known) finding.evidence.push_back("not known: " + what);
  finding.evidence.push_back("not recorded: the kernel's parameters and launch attributes");
  return finding;
}

}  // namespace cuproof::explain
