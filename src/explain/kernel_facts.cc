// What is known of a kernel: the driver's answers to the program first, then its cubin.
#include <fmt/format.h>

#include <algorithm>

#include "bytes/expand.h"
#include "explain/context.h"
#include "image/file_images.h"
#include "image/ptx.h"
#include "target/verdict.h"

namespace cuproof::explain {
namespace {

// Numbers of CUfunction_attribute.
constexpr int64_t kMaxThreadsPerBlock = 0;
constexpr int64_t kStaticShared = 1;
constexpr int64_t kRegisters = 4;
constexpr int64_t kMaxDynamicShared = 8;

constexpr uint64_t kMostExpanded = uint64_t{512} << 20;

std::optional<Known> Asked(const trace::Function& function, int64_t attribute) {
  const auto found = function.attributes.find(attribute);
  // Of numbers that a driver gives none is negative.
  if (found == function.attributes.end() || found->second < 0) return std::nullopt;
  const bool set = function.set.count(attribute) != 0;
  return Known{found->second, set ? "as the program set it" : "as the driver told the program"};
}

void ReadFromCubin(ByteView cubin, const std::string& mangled, const std::string& source,
                   KernelFacts& facts) {
  const auto kernels = ReadKernelResources(cubin);
  if (!kernels) return;
  const auto found =
      std::find_if(kernels->begin(), kernels->end(),
                   [&](const KernelResources& kernel) { return kernel.name == mangled; });
  if (found == kernels->end()) return;
  if (!facts.registers && found->registers) facts.registers = {*found->registers, source};
  if (!facts.static_shared) facts.static_shared = {found->static_shared, source};
  if (found->max_threads) {
    const auto& threads = *found->max_threads;
    LaunchShape shape;
    shape.block = {threads[0], threads[1], threads[2]};
    facts.compiled_threads = {static_cast<int64_t>(std::min<uint64_t>(shape.Threads(), UINT32_MAX)),
                              source};
  }
}

// The image that the driver takes of a module, expanded; what it holds beside that is told by
// facts.ptx.
void ReadFromImage(const ErrorContext& context, const trace::ImageLoad& image,
                   const std::string& mangled, KernelFacts& facts) {
  const ImageBytes opened = OpenImage(context.run, image);
  if (opened.bytes.empty()) return;
  FileImages file = ListImages(opened.bytes);
  if (file.modules.empty()) return;
  facts.ptx = std::any_of(file.images.begin(), file.images.end(),
                          [](const Image& entry) { return entry.kind == ImageKind::kPtx; });
  const auto gpu = GpuOf(context);
  if (!gpu) return;
  // In a file of many modules the kernel is in one of them; its own bytes start at the offset.
  const ModuleVerdict verdict = JudgeModule(file, file.modules[0], *gpu, std::nullopt);
  if (verdict.outcome != Outcome::kRunsSass || verdict.image < 0) return;
  const Image& taken = file.images[static_cast<size_t>(verdict.image)];
  if (taken.raw_size > kMostExpanded) return;
  const auto cubin = Expand(taken.compression, opened.bytes.Clamp(taken.payload, taken.stored_size),
                            taken.raw_size);
  if (cubin) ReadFromCubin(cubin->view(), mangled, "as its cubin has it", facts);
}

}  // namespace

KernelFacts FactsOf(const ErrorContext& context, uint32_t id) {
  KernelFacts facts;
  facts.name = KernelName(context.process, id);
  const auto function = context.process.functions.find(id);
  if (id == 0 || function == context.process.functions.end()) return facts;
  facts.registers = Asked(function->second, kRegisters);
  facts.static_shared = Asked(function->second, kStaticShared);
  facts.max_threads = Asked(function->second, kMaxThreadsPerBlock);
  facts.dynamic_limit = Asked(function->second, kMaxDynamicShared);
  const auto image = context.process.images.find(function->second.image);
  if (image == context.process.images.end()) return facts;
  ReadFromImage(context, image->second, function->second.name, facts);
  if (image->second.kind == "ptx") facts.ptx = true;
  return facts;
}

}  // namespace cuproof::explain
