#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/result.h"

namespace cuproof {

/// Where a thread stands in its block.
struct ThreadPlace {
  uint32_t x = 0, y = 0, z = 0;
  uint32_t lane = 0;
};

/// An index into an array, as arithmetic over tx, ty, tz and lane with C's operators and their
/// precedence: | ^ & << >> + - * / % and unary - ~.
class BankIndex {
 public:
  static Result<BankIndex> Parse(std::string_view text);

  /// What it is for a thread. An error: division by zero, a shift out of range, or a number past 64
  /// bits.
  Result<int64_t> At(const ThreadPlace& place) const;

  /// The numbers in the text that are at least 2: row lengths are among them.
  std::vector<uint64_t> Numbers() const;

  const std::string& text() const { return text_; }

 private:
  friend class BankIndexParser;
  enum class Op : uint8_t {
    kNumber,
    kX,
    kY,
    kZ,
    kLane,
    kNegate,
    kInvert,
    kOr,
    kXor,
    kAnd,
    kLeft,
    kRight,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kRemainder,
  };
  struct Step {
    Op op = Op::kNumber;
    int64_t number = 0;
  };
  static bool Apply(Op op, int64_t a, int64_t b, int64_t& out);

  std::string text_;
  std::vector<Step> steps_;  // in the order of evaluation, operands first
};

}  // namespace cuproof
