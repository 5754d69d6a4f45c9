#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bytes/result.h"
#include "bytes/view.h"
#include "image/image.h"

namespace cuproof {

/// How bytes of spills are known.
enum class SpillBasis : uint8_t {
  kExact,         // annotated instructions, or none under a toolkit that was compared with ptxas
  kByAnnotation,  // the same under a toolkit that annotates but was not compared with its ptxas
  kAtMost,        // no annotations: every access to local memory counted, arrays and calls included
};

struct Spills {
  uint64_t stores = 0;  // bytes a thread, as `ptxas -v` prints them
  uint64_t loads = 0;
  SpillBasis basis = SpillBasis::kAtMost;
};

/// One parameter of a kernel, as the host must lay it out.
struct KernelParameter {
  uint32_t ordinal = 0;
  uint32_t offset = 0;  // bytes from the start of the parameters
  uint32_t size = 0;    // bytes
};

/// Bytes of one constant bank.
struct ConstantBank {
  uint32_t bank = 0;
  uint64_t bytes = 0;
};

/// What a cubin says about one kernel (or device function) that has a section of its own. Where
/// each number stands: docs/formats.md, checked against `ptxas -v`.
struct KernelResources {
  std::string name;       // mangled
  bool is_entry = false;  // a kernel; false: a device function with a section of its own
  uint32_t sm = 0;
  uint8_t abi = 0;
  Version toolkit;
  bool relocatable = false;  // before the device link, which adds what other functions take
  bool damaged = false;  // its attributes cannot be so, or its code is gone: numbers are missing
  std::optional<uint32_t> registers;         // of a thread
  std::optional<uint32_t> stack_frame;       // bytes of a thread; no value: with those of others
  std::optional<uint32_t> cumulative_stack;  // with those of what it calls
  bool indirect_calls = false;               // then the stack is a lower bound
  bool recursion = false;                    // then its depth is not known
  uint32_t static_shared = 0;                // bytes of a block, without what the system reserves
  std::optional<uint32_t> barriers;
  std::optional<Spills> spills;         // no value: the cubin's attributes are damaged
  std::optional<Spills> callee_spills;  // of the device functions in its section
  std::vector<ConstantBank> constants;
  std::optional<std::array<uint32_t, 3>> max_threads;  // .maxntid or .reqntid of a block
  bool required_threads = false;                       // it was .reqntid
  std::optional<uint32_t> register_limit;              // that it was compiled with (MAXREG_COUNT)
  std::optional<std::array<uint32_t, 3>> cluster;      // .reqnctapercluster
  std::optional<uint32_t> max_cluster_rank;
  uint32_t virtual_resources = 0;  // VRC_CTA_INIT_COUNT: tensor memory of a block, from sm_100 on
  std::vector<KernelParameter> parameters;  // by ordinal
  uint32_t parameter_bytes = 0;
  std::string source_file;  // with -lineinfo; empty: not told
  uint32_t source_line = 0;
};

/// Bytes of stack of a thread with those of what the kernel calls, as far as they are told. With
/// recursion or calls through pointers that is a lower bound.
std::optional<uint32_t> StackBytes(const KernelResources& kernel);

/// Reads every `.text.NAME` of the cubin at the start of `bytes`. Attributes that are damaged are
/// left out: such a kernel has no number, never a wrong one.
Result<std::vector<KernelResources>> ReadKernelResources(ByteView bytes);

}  // namespace cuproof
