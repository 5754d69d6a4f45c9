#pragma once
#include <cstdint>
#include <vector>

#include "bytes/view.h"

namespace cuproof {

/// A device function that lies in the section of a kernel.
struct InnerFunction {
  uint64_t start = 0;
  uint64_t size = 0;
};

/// What the calls in some code make of its stack: with either, what the compiler added up is not
/// all of it.
struct CallFacts {
  bool indirect = false;   // through a register: a function pointer, a virtual function
  bool recursive = false;  // a device function reaches itself
};
CallFacts FindCalls(ByteView code, uint32_t sm, std::vector<InnerFunction> functions);

}  // namespace cuproof
