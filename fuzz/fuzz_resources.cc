// Any bytes as a cubin whose kernels are asked for: sections, attributes, instructions, line table.
#include "fuzz/require.h"
#include "resource/advice.h"
#include "resource/curve.h"
#include "resource/kernel_resources.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuproof;
  const auto kernels = ReadKernelResources(ByteView(data, size));
  if (!kernels) {
    REQUIRE(!kernels.error().phrase.empty());
    return 0;
  }
  uint64_t names = 0;
  for (const KernelResources& kernel : *kernels) {
    names += kernel.name.size();
    REQUIRE(!kernel.damaged || !kernel.spills);
    REQUIRE(kernel.spills.has_value() == kernel.callee_spills.has_value());
    REQUIRE(kernel.source_file.empty() == (kernel.source_line == 0));
    const auto answer = AnswerLaunch(kernel, 90, {256, 0});
    REQUIRE(answer.has_value() == kernel.registers.has_value());
    if (!answer) continue;
    REQUIRE(answer->occupancy.warps <= answer->sm_warps);
    REQUIRE(answer->largest_block <= 1024);
    AdviceFor(kernel, 90, {});
  }
  REQUIRE(names <= size);
  return 0;
}
