#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "bytes/view.h"

namespace cuproof {

/// A device function that lies in the section of a kernel.
struct InnerFunction {
  uint64_t start = 0;
  uint64_t size = 0;
};

/// Which of the functions, sorted by their start, has the instruction at that offset.
std::optional<uint32_t> FunctionWith(const std::vector<InnerFunction>& functions, uint64_t offset);

/// What the calls in some code make of its stack: with either, what the compiler added up is not
/// all of it.
struct CallFacts {
  bool indirect = false;   // through a register: a function pointer, a virtual function
  bool recursive = false;  // a device function reaches itself
};
/// `functions` by their start.
CallFacts FindCalls(ByteView code, uint32_t sm, const std::vector<InnerFunction>& functions);

}  // namespace cuproof
