#include "diff/register_price.h"

#include <fmt/format.h>

#include <algorithm>

#include "bytes/expand.h"
#include "diff/gate_finding.h"
#include "image/expand_image.h"
#include "image/file_images.h"
#include "resource/recompile.h"
#include "symbol/demangle.h"

namespace cuproof {
namespace {

constexpr size_t kMostTexts = 64;  // of a file; each is a run of ptxas
constexpr size_t kMostKernels = 20;

std::string PriceOf(const LogKernel& kernel) {
  const KernelResources& resources = kernel.resources;
  if (!resources.registers || !resources.spills) return "not told";
  const uint64_t bytes = resources.spills->stores + resources.spills->loads;
  if (bytes == 0) return fmt::format("{} registers, no spills", *resources.registers);
  return fmt::format("{} registers, spills {} bytes of stores and {} of loads",
                     *resources.registers, resources.spills->stores, resources.spills->loads);
}

// Dearest first.
void AddLines(std::vector<LogKernel> kernels, const std::string& arch, uint32_t registers,
              std::vector<std::string>& lines) {
  std::erase_if(kernels, [](const LogKernel& kernel) { return !kernel.resources.is_entry; });
  const auto cost = [](const LogKernel& kernel) {
    const auto& spills = kernel.resources.spills;
    return spills ? spills->stores + spills->loads : 0;
  };
  std::stable_sort(kernels.begin(), kernels.end(),
                   [&](const LogKernel& a, const LogKernel& b) { return cost(a) > cost(b); });
  for (size_t i = 0; i < kernels.size() && i < kMostKernels; ++i) {
    lines.push_back(fmt::format("{} for {} within {} registers: {}",
                                DemangledOrSame(kernels[i].resources.name), arch, registers,
                                PriceOf(kernels[i])));
  }
  if (kernels.size() > kMostKernels)
    lines.push_back(
        fmt::format("and {} kernels that spill no more", kernels.size() - kMostKernels));
}

}  // namespace

Result<std::vector<std::string>> RegisterPrice(ByteView file, const std::string& ptxas,
                                               const std::string& arch, uint32_t registers) {
  FileImages images = ListImages(file);
  ExpansionBudget budget(file.size());
  std::vector<LogKernel> kernels;
  size_t texts = 0;
  for (Image& image : images.images) {
    if (image.kind != ImageKind::kPtx || image.arch.number > SmOf(arch)) continue;
    if (!Expandable(image) || !budget.Take(image) || ++texts > kMostTexts) continue;
    const ByteView stored = file.Clamp(image.payload, image.stored_size);
    const auto text = Expand(image.compression, stored, image.raw_size);
    if (!text) return text.error();
    std::string_view ptx = text->view().Text();
    ptx = ptx.substr(0, ptx.find('\0'));
    auto log = CompileWithLimit(ptxas, ptx, arch, registers);
    if (!log) return log.error();
    std::move(log->kernels.begin(), log->kernels.end(), std::back_inserter(kernels));
  }
  if (texts == 0) {
    return Error{ErrorCode::kUsage, fmt::format("has no PTX that can be compiled for {}", arch), "",
                 std::nullopt};
  }
  std::vector<std::string> lines;
  AddLines(std::move(kernels), arch, registers, lines);
  return lines;
}

}  // namespace cuproof
