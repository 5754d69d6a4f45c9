#include "resource/bank_index.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace cuproof {
namespace {

constexpr size_t kLongest = 1000;  // bytes: an index that a person typed
constexpr int kDeepest = 100;      // parentheses and signs within each other

Error Usage(std::string phrase) {
  return Error{ErrorCode::kUsage, std::move(phrase), "", std::nullopt};
}

}  // namespace

/// Precedence climbing over one line of text.
class BankIndexParser {
 public:
  using Op = BankIndex::Op;

  explicit BankIndexParser(std::string_view text) : text_(text) {}

  Result<BankIndex> Run() {
    if (text_.size() > kLongest) return Usage("--bank: the index is longer than 1,000 bytes");
    index_.text_ = text_;
    if (!Expression(0, 0)) return Wrong();
    SkipSpace();
    if (at_ != text_.size()) return Wrong();
    return std::move(index_);
  }

 private:
  struct Binary {
    std::string_view sign;
    Op op;
    int level;
  };
  // Longer signs first. Levels as in C.
  static constexpr Binary kBinaries[] = {
      {"<<", Op::kLeft, 4},     {">>", Op::kRight, 4},   {"|", Op::kOr, 1},
      {"^", Op::kXor, 2},       {"&", Op::kAnd, 3},      {"+", Op::kAdd, 5},
      {"-", Op::kSubtract, 5},  {"*", Op::kMultiply, 6}, {"/", Op::kDivide, 6},
      {"%", Op::kRemainder, 6},
  };
  struct Name {
    std::string_view word;
    Op op;
  };
  static constexpr Name kNames[] = {
      {"tx", Op::kX},          {"ty", Op::kY},          {"tz", Op::kZ},
      {"threadIdx.x", Op::kX}, {"threadIdx.y", Op::kY}, {"threadIdx.z", Op::kZ},
      {"lane", Op::kLane},
  };

  Error Wrong() const {
    const std::string_view rest = text_.substr(at_);
    return Usage(fmt::format(
        "--bank: expected an index of numbers, tx, ty, tz, lane, ( ) and + - * / % ^ & | ~ << >>; "
        "{} "
        "in '{}'",
        rest.empty() ? std::string("it ends too early") : fmt::format("got '{}'", rest), text_));
  }

  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  void Emit(Op op, int64_t number = 0) { index_.steps_.push_back({op, number}); }

  const Binary* NextBinary() {
    SkipSpace();
    for (const Binary& binary : kBinaries) {
      if (text_.substr(at_).starts_with(binary.sign)) return &binary;
    }
    return nullptr;
  }

  bool Expression(int least, int depth) {
    if (!Operand(depth)) return false;
    for (const Binary* next = NextBinary(); next && next->level > least; next = NextBinary()) {
      at_ += next->sign.size();
      if (!Expression(next->level, depth)) return false;
      Emit(next->op);
    }
    return true;
  }

  bool Operand(int depth) {
    SkipSpace();
    if (depth > kDeepest || at_ == text_.size()) return false;
    const char c = text_[at_];
    if (c == '(') {
      ++at_;
      if (!Expression(0, depth + 1)) return false;
      SkipSpace();
      if (at_ == text_.size() || text_[at_] != ')') return false;
      ++at_;
      return true;
    }
    if (c == '-' || c == '~') {
      ++at_;
      if (!Operand(depth + 1)) return false;
      Emit(c == '-' ? Op::kNegate : Op::kInvert);
      return true;
    }
    return c >= '0' && c <= '9' ? Number() : Word();
  }

  bool Number() {
    std::string_view digits = text_.substr(at_);
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
      digits.remove_prefix(2);
      base = 16;
    } else if (digits.starts_with('0')) {
      base = 8;  // as in C
    }
    int64_t value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc() || value < 0) return false;
    at_ = static_cast<size_t>(end - text_.data());
    Emit(Op::kNumber, value);
    return true;
  }

  static bool IsPartOfName(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  }

  bool Word() {
    size_t end = at_;
    while (end < text_.size() && IsPartOfName(text_[end])) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    for (const Name& name : kNames) {
      if (word != name.word) continue;
      at_ = end;
      Emit(name.op);
      return true;
    }
    return false;
  }

  std::string_view text_;
  size_t at_ = 0;
  BankIndex index_;
};

Result<BankIndex> BankIndex::Parse(std::string_view text) { return BankIndexParser(text).Run(); }

bool BankIndex::Apply(Op op, int64_t a, int64_t b, int64_t& out) {
  switch (op) {
    case Op::kOr:
      out = a | b;
      return true;
    case Op::kXor:
      out = a ^ b;
      return true;
    case Op::kAnd:
      out = a & b;
      return true;
    case Op::kLeft:
      if (b < 0 || b > 62) return false;
      return !__builtin_mul_overflow(a, int64_t{1} << b, &out);
    case Op::kRight:
      out = b < 0 || b > 63 ? 0 : a >> b;
      return b >= 0 && b <= 63;
    case Op::kAdd:
      return !__builtin_add_overflow(a, b, &out);
    case Op::kSubtract:
      return !__builtin_sub_overflow(a, b, &out);
    case Op::kMultiply:
      return !__builtin_mul_overflow(a, b, &out);
    case Op::kDivide:
    case Op::kRemainder:
      if (b == 0 || (a == INT64_MIN && b == -1)) return false;
      out = op == Op::kDivide ? a / b : a % b;
      return true;
    default:
      return false;
  }
}

std::vector<uint64_t> BankIndex::Numbers() const {
  std::vector<uint64_t> numbers;
  for (const Step& step : steps_) {
    if (step.op == Op::kNumber && step.number >= 2) {
      numbers.push_back(static_cast<uint64_t>(step.number));
    }
  }
  return numbers;
}

Result<int64_t> BankIndex::At(const ThreadPlace& place) const {
  std::vector<int64_t> stack;
  bool right = true;
  for (const Step& step : steps_) {
    switch (step.op) {
      case Op::kNumber:
        stack.push_back(step.number);
        continue;
      case Op::kX:
        stack.push_back(place.x);
        continue;
      case Op::kY:
        stack.push_back(place.y);
        continue;
      case Op::kZ:
        stack.push_back(place.z);
        continue;
      case Op::kLane:
        stack.push_back(place.lane);
        continue;
      case Op::kInvert:
        stack.back() = ~stack.back();
        continue;
      case Op::kNegate:
        right &= Apply(Op::kSubtract, 0, stack.back(), stack.back());
        break;
      default: {
        const int64_t b = stack.back();
        stack.pop_back();
        right &= Apply(step.op, stack.back(), b, stack.back());
      }
    }
    if (right) continue;
    return Usage(fmt::format(
        "--bank: '{}' has no value for thread ({}, {}, {}): a division by zero, a shift out of "
        "range or a number past 64 bits",
        text_, place.x, place.y, place.z));
  }
  return stack.back();
}

}  // namespace cuproof
