#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "resource/kernel_resources.h"

namespace cuproof {

/// One kernel or function that `ptxas -v` or `nvlink -v` told about. A number without value stood
/// in no line, or in one of which it is not certain whose it is.
struct LogKernel {
  std::string arch;  // "sm_90a"; empty: not told
  KernelResources resources;
  bool shared_known = false;  // false: static_shared says nothing
  bool mixed = false;         // its lines were mixed with those of another compilation
  uint64_t line = 0;          // where it was named first, from 1
};

enum class LogRemarkKind : uint8_t {
  kSpilled,            // "Registers are spilled to local memory"
  kLocalMemory,        // "Local memory used for function"
  kSerialized,         // wgmma.mma_async instructions are serialized
  kSetmaxnregIgnored,  // so a warp group keeps the registers it started with
  kOtherLoss,          // another "Potential Performance Loss"
  kTooMuchShared,      // an error: the kernel does not assemble
  kTooFewRegisters,    // fatal: C7600, C7602
};

/// What ptxas warns of or refuses.
struct LogRemark {
  LogRemarkKind kind = LogRemarkKind::kOtherLoss;
  std::string code;      // "C7510"; empty: the line has none
  std::string function;  // mangled; empty: not told
  std::string text;      // the sentence, without the function's name
  uint64_t line = 0;
};

struct PtxasLog {
  std::vector<LogKernel> kernels;  // in the order of the log; the same kernel once for each arch
  std::vector<LogRemark> remarks;
  uint64_t lines = 0;
  uint64_t unmatched = 0;  // lines with numbers of which it is not known whose they are
};

/// True when some line is one of `ptxas -v` or `nvlink -v`, or a remark of theirs.
bool LooksLikePtxasLog(std::string_view text);

/// Reads the output of a build. Of a kernel that was compiled twice for one architecture the worst
/// numbers count: which of the two is in the program is not told. A whole line is the unit:
/// compilations that run side by side write between each other's lines, and what could belong to
/// two of them is given to none.
PtxasLog ReadPtxasLog(std::string_view text);

}  // namespace cuproof
