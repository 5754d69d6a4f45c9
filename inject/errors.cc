#include "errors.h"

#include "events.h"
#include "images.h"

namespace cuproof::inject {

namespace {

uint32_t ImageOfFunction(uint32_t function) {
  return function == 0 || function >= kMaxFunctions
             ? 0
             : state->function[function].image.load(std::memory_order_relaxed);
}

// What tells images apart, the same when one is loaded again.
uint64_t ImageKey(uint32_t image) {
  if (image == 0 || image >= kMaxImages) return 0;
  const ImageShadow& shadow = state->image[image];
  const uint64_t place = reinterpret_cast<uintptr_t>(shadow.bytes) * 0x9e3779b97f4a7c15;
  return shadow.hash[0] != 0 ? shadow.hash[0] : place;
}

// What the explanation will want to look into.
void KeepImages(const Failure& failure, uint32_t function) {
  KeepImage(failure.image);
  if (function != 0) KeepImage(ImageOfFunction(function));
  uint32_t functions[16];
  const uint32_t count = FunctionsOf(failure.exec, failure.graph, functions, 16);
  for (uint32_t i = 0; i < count; ++i) KeepImage(ImageOfFunction(functions[i]));
}

}  // namespace

void RecordError(const Failure& failure) {
  if (failure.result == kErrorDeinitialized) return;
  const KeepErrno keep;
  thread.ring->errors.fetch_add(1, std::memory_order_relaxed);
  const uint32_t function = failure.kernel == nullptr ? 0 : failure.kernel->function;
  const uint64_t what = reinterpret_cast<uintptr_t>(failure.api) ^
                        static_cast<uint64_t>(static_cast<uint32_t>(failure.result)) << 48 ^
                        static_cast<uint64_t>(function) << 24;
  const uint32_t count = Repeat(what ^ ImageKey(failure.image));
  if (!WorthALine(count)) return;
  const uint32_t image = failure.image != 0 ? failure.image : ImageOfFunction(function);
  KeepImages(failure, function);
  Event event("error");
  event.Text("api", failure.api).Signed("result", failure.result);
  if (failure.kernel != nullptr) {
    event.Number("function", function)
        .Triple("grid", failure.kernel->grid)
        .Triple("block", failure.kernel->block)
        .Number("shared", failure.kernel->shared);
  }
  if (failure.has_stream) event.Number("stream", failure.stream);
  if (failure.capture != 0) event.Number("capture", failure.capture);
  if (thread.context != 0) event.Number("context", thread.context);
  if (image != 0) event.Number("image", image);
  if (failure.exec != nullptr || failure.graph != nullptr) {
    const GraphShadow* shadow = failure.exec != nullptr ? ShadowOfExec(failure.exec) : nullptr;
    if (shadow == nullptr && failure.graph != nullptr) shadow = ShadowOfGraph(failure.graph);
    if (failure.exec != nullptr && shadow != nullptr) event.Number("graph", shadow->id);
    DescribeGraph(event, shadow, true);
  }
  if (count > 1) event.Number("count", count);
}

}  // namespace cuproof::inject
