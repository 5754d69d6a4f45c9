#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cuproof {

enum class PtxLintKind : uint8_t {
  kWideArithmetic,     // f64 arithmetic between f32 values
  kGuardedShuffle,     // a shuffle whose mask names lanes that do not come to it
  kMisalignedVector,   // a vector access that the declared alignment does not carry
  kIndexedLocalArray,  // a local array that stays in memory
};

/// One thing that the text of a PTX function shows.
struct PtxLint {
  PtxLintKind kind = PtxLintKind::kWideArithmetic;
  std::string function;   // mangled
  uint64_t offset = 0;    // of the first statement, in the text
  uint64_t count = 0;     // of statements like it in the function
  std::string statement;  // the first, as it stands
  std::string detail;     // what is known of it: a phrase
};

/// What can be said from the text alone, each kind once a function. Silent where the text leaves a
/// doubt.
std::vector<PtxLint> LintPtx(std::string_view text);

}  // namespace cuproof
