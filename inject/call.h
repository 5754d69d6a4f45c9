#pragma once
// A call of the driver that is under way, and what can be learnt from it: learn_modules.cc for
// images, functions, devices and contexts; learn_graphs.cc for captures and graphs.
#include <string.h>

#include "driver_types.h"
#include "images.h"
#include "state.h"

namespace cuproof::inject {

/// Arguments are passed on as the 64-bit registers or stack slots that they came in: none of the
/// hooked functions has an argument of a floating type or a struct by value.
struct Call {
  const struct Wrapped* hook;
  const uint64_t* arguments;
  int result;
  uint64_t ns;
  uint32_t capture;
  ImageView* image;
  uint32_t image_id;

  template <typename T = void*>
  T Argument(uint32_t number) const {
    T value;
    memcpy(&value, &arguments[number], sizeof value);  // NOLINT(bugprone-sizeof-expression)
    return value;
  }
  /// What the call stored through the pointer that is argument `number`.
  void* Out(uint32_t number) const {
    auto* const* pointer = Argument<void**>(number);
    return pointer == nullptr ? nullptr : *pointer;
  }
};

enum Wish : uint8_t {
  kReportsErrors = 1,  // a result other than success is an error, and not an answer
  kPerThreadEntry = 2,
  kTakesImage = 4,     // argument 1 is an image in memory
  kTakesPath = 8,      // argument 1 is a path
  kAfterFailure = 16,  // `after` is called after a failure, too
};

struct Wrapped {
  const char* name;
  trace::Op op;  // kNone: no record
  uint8_t arguments;
  int8_t stream;  // argument number; -1: none
  int8_t bytes;   // argument number of a size; -1: none
  uint8_t wishes;
  int8_t node;  // NodeType that the call makes when its stream is captured; -1: none
  void (*before)(Call&);
  void (*after)(Call&);  // after success; if it takes an image or wishes so, after failure too
};

inline bool PerThread(const Call& call) { return (call.hook->wishes & kPerThreadEntry) != 0; }

void AfterLoad(Call& call);
void AfterLoadEx(Call& call);
void AfterLibraryLoad(Call& call);
void BeforeUnload(Call& call);
void AfterUnload(Call& call);
void BeforeGetFunction(Call& call);
void AfterGetFunction(Call& call);
void AfterKernelGetFunction(Call& call);
void AfterLibraryGetModule(Call& call);
void AfterGetName(Call& call);
void AfterEnumerate(Call& call);
void AfterFuncGetAttribute(Call& call);
void AfterFuncSetAttribute(Call& call);
void AfterKernelSetAttribute(Call& call);
void AfterDeviceGetAttribute(Call& call);
void AfterDeviceGetName(Call& call);
void AfterDriverGetVersion(Call& call);
void AfterPrimaryContext(Call& call);
void AfterContextCreate(Call& call);
void AfterContextCreateV3(Call& call);
void AfterContextCreateV4(Call& call);
void AfterContextFromGreen(Call& call);
void AfterContextSet(Call& call);
void AfterContextPush(Call& call);
void AfterContextPop(Call& call);
void AfterContextDestroy(Call& call);
void AfterStreamCreate(Call& call);
void AfterStreamCreatePriority(Call& call);
void AfterGreenStreamCreate(Call& call);
void AfterStreamDestroy(Call& call);
void AfterBeginCaptureV1(Call& call);
void AfterBeginCapture(Call& call);
void AfterBeginCaptureToGraph(Call& call);
void AfterEndCapture(Call& call);
void AfterEventRecord(Call& call);
void AfterEventRecordFlags(Call& call);
void AfterStreamWait(Call& call);
void AfterGraphCreate(Call& call);
void AfterGraphDestroy(Call& call);
void AfterDestroyNode(Call& call);
void AfterGraphClone(Call& call);
void AfterAddKernelNodeV1(Call& call);
void AfterAddKernelNode(Call& call);
void AfterAddNodeV1(Call& call);
void AfterAddNode(Call& call);
void AfterExecUpdate(Call& call);
void AfterExecDestroy(Call& call);
void AfterInit(Call& call);
void AfterExportTable(Call& call);
void AfterInstantiate(Call& call);
/// For the node types that need no look at their parameters.
void AfterAddNodeOf(Call& call, NodeType type);
template <NodeType kType>
void AfterAdd(Call& call) {
  AfterAddNodeOf(call, kType);
}

}  // namespace cuproof::inject
