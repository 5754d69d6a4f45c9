#include "output/advice_text.h"

#include <fmt/format.h>

#include "output/number.h"
#include "resource/advice.h"

namespace cuproof {
namespace {

constexpr uint32_t kLargestOfAll = 1024;

std::string BlocksText(const RegisterStep& step, uint32_t sm_warps) {
  return fmt::format("{} a multiprocessor, {}/{} warps", Count(step.blocks, "block"), step.warps,
                     sm_warps);
}

void AddLaunch(const Advice& advice, uint32_t registers, std::vector<std::string>& texts) {
  const LaunchAnswer& now = advice.now;
  if (now.block != 0 && now.occupancy.blocks == 0 && advice.register_cap != 0 &&
      registers > advice.register_cap) {
    texts.push_back(
        fmt::format("a block of {} needs at most {} registers a thread: "
                    "__launch_bounds__({}) or -maxrregcount={}",
                    now.block, advice.register_cap, now.block, advice.register_cap));
  }
  if (now.largest_block < kLargestOfAll) {
    texts.push_back(now.largest_block == 0
                        ? std::string("no block launches")
                        : fmt::format("launches with up to {} threads a block", now.largest_block));
  }
}

void AddSteps(const Advice& advice, uint32_t registers, std::vector<std::string>& texts) {
  const LaunchAnswer& now = advice.now;
  if (advice.gain && now.occupancy.blocks > 0) {
    const RegisterStep& gain = *advice.gain;
    texts.push_back(
        fmt::format("{} registers, {} fewer: {}; __launch_bounds__({}, {}) or "
                    "-maxrregcount={}",
                    gain.registers, registers - gain.registers, BlocksText(gain, now.sm_warps),
                    now.block, gain.blocks, gain.registers));
  }
  if (advice.loss) {
    const RegisterStep& loss = *advice.loss;
    texts.push_back(fmt::format(
        "{} registers, {} more: {}", loss.registers, loss.registers - registers,
        loss.blocks ? BlocksText(loss, now.sm_warps) : "a block of that size does not launch"));
  }
}

void AddMemory(const Advice& advice, const std::string& product, std::vector<std::string>& texts) {
  texts.push_back(
      fmt::format("a block can take {} more of shared memory, {} by opt-in "
                  "(cudaFuncAttributeMaxDynamicSharedMemorySize)",
                  Count(advice.shared_default, "byte"), Count(advice.shared_optin, "byte")));
  if (advice.shared_to_spare) {
    texts.back() += fmt::format("; with more than {} a multiprocessor holds fewer blocks",
                                Count(*advice.shared_to_spare, "byte"));
  }
  if (advice.stack_of_sm == 0) return;
  std::string text = fmt::format("stack of the threads that a multiprocessor holds: {}",
                                 HumanBytes(advice.stack_of_sm));
  if (const uint32_t count = MultiprocessorsOf(product)) {
    text += fmt::format("; of all {} of {}: {}", count, product,
                        HumanBytes(advice.stack_of_sm * count));
  }
  texts.push_back(std::move(text));
}

}  // namespace

std::vector<std::string> AdviceTexts(const KernelLine& line, const LaunchQuestion& question,
                                     const std::string& product) {
  std::vector<std::string> texts;
  if (!line.answer) return texts;
  const auto advice = AdviceFor(line.row->resources, line.answer->sm, question);
  if (!advice) return texts;
  const KernelResources& kernel = line.row->resources;
  const uint32_t registers = kernel.registers.value_or(0);
  if (kernel.register_limit && SpillBytes(kernel) > 0) {
    texts.push_back(
        fmt::format("compiled for at most {} registers (__launch_bounds__, __maxnreg__ "
                    "or -maxrregcount), and spills",
                    *kernel.register_limit));
  }
  AddLaunch(*advice, registers, texts);
  AddSteps(*advice, registers, texts);
  AddMemory(*advice, product, texts);
  return texts;
}

}  // namespace cuproof
