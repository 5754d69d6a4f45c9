#include "symbol/mangled_size.h"

#include <algorithm>
#include <vector>

namespace cuproof {
namespace {

constexpr int kMaxDepth = 200;
constexpr uint64_t kMost = uint64_t{1} << 40;  // sums of these do not overflow
constexpr uint64_t kShort = 24;                // any word of the language: "unsigned long long"
constexpr uint64_t kStandard = 100;            // std::basic_string with its arguments

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool In(char c, std::string_view set) { return c != '\0' && set.find(c) != set.npos; }

/// Walks the grammar of the Itanium C++ ABI, section 5.1, and computes lengths in place of texts.
/// What it needs exactly is the list of parts that can be referred back to.
class Sizer {
 public:
  explicit Sizer(std::string_view text) : text_(text) {}

  /// False where the grammar is not known.
  bool Run(uint64_t& size) {
    if (!Take("_Z")) return false;
    size = Encoding();
    return !failed_ && (at_ == text_.size() || text_[at_] == '.');
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool Take(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }
  void Skip(size_t count) { at_ = std::min(at_ + count, text_.size()); }
  uint64_t Fail() {
    failed_ = true;
    at_ = text_.size();
    return 0;
  }
  uint64_t Keep(uint64_t size) {
    size = std::min(size, kMost);
    parts_.push_back(size);
    return size;
  }
  void Number() {
    Take("n");
    while (IsDigit(Peek())) ++at_;
  }
  void Discriminator() {
    if (Take("__")) {
      Number();
      Take("_");
    } else if (Peek() == '_' && IsDigit(Peek(1))) {
      Skip(2);
    }
  }

  uint64_t Encoding() {
    if (++depth_ > kMaxDepth) return Fail();
    uint64_t size = Peek() == 'T' || Peek() == 'G' ? Special() : Name();
    while (!failed_ && at_ < text_.size() && Peek() != 'E' && Peek() != '.') size += Type() + 2;
    --depth_;
    return std::min(size + kShort, kMost);
  }

  void CallOffset() {
    Number();
    Take("_");
  }

  uint64_t Special() {
    if (Take("TV") || Take("TT") || Take("TI") || Take("TS")) return Type() + kShort;
    if (Take("TC")) {
      const uint64_t size = Type();
      Number();
      return Take("_") ? size + Type() + kShort : Fail();
    }
    if (Take("Th")) {
      CallOffset();
      return Encoding() + kShort;
    }
    if (Take("Tv")) {
      CallOffset();
      CallOffset();
      return Encoding() + kShort;
    }
    if (Take("GV") || Take("TW") || Take("TH")) return Name() + kShort;
    if (Take("GTt") || Take("GTn")) return Encoding() + kShort;  // for transactional memory
    if (Take("GR")) {
      const uint64_t size = Name();
      while (IsDigit(Peek()) || IsUpper(Peek())) ++at_;
      return Take("_") ? size + 2 * kShort : Fail();
    }
    return Fail();
  }

  uint64_t Name() {
    if (++depth_ > kMaxDepth) return Fail();
    uint64_t size = 0;
    if (Peek() == 'N') {
      size = Nested();
    } else if (Peek() == 'Z') {
      size = Local();
    } else if (Peek() == 'S' && Peek(1) != 't') {
      size = Substitution();
      size = Peek() == 'I' ? size + Arguments() : Fail();
    } else {
      size = Take("St") ? 5 + Unqualified(5) : Unqualified(0);
      if (Peek() == 'I') {
        Keep(size);
        size += Arguments();
      }
    }
    --depth_;
    return std::min(size, kMost);
  }

  uint64_t Local() {
    Take("Z");
    uint64_t size = Encoding();
    if (!Take("E")) return Fail();
    if (Take("s")) {
      Discriminator();
      return size + kShort;
    }
    if (Take("d")) {
      Number();
      if (!Take("_")) return Fail();
    }
    size += Name() + 2;
    Discriminator();
    return size;
  }

  uint64_t Nested() {
    Take("N");
    uint64_t size = kShort;  // qualifiers, printed behind
    while (In(Peek(), "rVK")) ++at_;
    if (In(Peek(), "RO")) ++at_;
    uint64_t last = 0;
    bool any = false;
    while (!failed_ && !Take("E")) {
      if (Peek() == 'S' && Peek(1) == 't') {
        Skip(2);
        last = 5;
        size += last;
        continue;  // std itself is no part
      }
      if (Peek() == 'S') {
        size += Substitution();
        last = size;
        any = true;
        continue;  // a part already
      }
      if (Peek() == 'I') {
        size += Arguments();
      } else if (Peek() == 'T') {
        size += TemplateParameter();
      } else if (Peek() == 'D' && In(Peek(1), "tT")) {
        size += Decltype();
      } else {
        last = Unqualified(last);
        size += last;
        Take("M");  // a member that initialises a variable
      }
      any = true;
      Keep(size);
    }
    if (!any || parts_.empty()) return Fail();
    // The whole is kept by whoever wanted a type.
    parts_.pop_back();
    return size;
  }

  // `before` is the class whose constructor repeats its name.
  uint64_t Unqualified(uint64_t before) {
    uint64_t size = 0;
    Take("L");
    if (IsDigit(Peek())) {
      size = SourceName();
    } else if (Take("Ut")) {
      Number();
      size = Take("_") ? kShort : Fail();
    } else if (Take("Ul")) {
      size = kShort;
      while (!failed_ && !Take("E")) size += Type() + 2;
      Number();
      if (!Take("_")) return Fail();
    } else if (Peek() == 'C' && (IsDigit(Peek(1)) || Peek(1) == 'I')) {
      const bool inherited = Peek(1) == 'I';
      Skip(inherited ? 3 : 2);
      size = before + (inherited ? Type() : 0);
    } else if (Peek() == 'D' && IsDigit(Peek(1))) {
      Skip(2);
      size = before + 1;
    } else if (Take("cv")) {
      size = Type() + kShort;
    } else if (Take("li")) {
      size = SourceName() + kShort;
    } else if (IsLower(Peek()) && (IsLower(Peek(1)) || IsUpper(Peek(1)))) {
      Skip(2);
      size = kShort;
    } else {
      return Fail();
    }
    while (!failed_ && Take("B")) size += SourceName() + 8;
    return size + 2;
  }

  uint64_t SourceName() {
    uint64_t length = 0;
    while (IsDigit(Peek()) && length < text_.size()) {
      length = length * 10 + static_cast<uint64_t>(text_[at_++] - '0');
    }
    if (length == 0 || length > text_.size() - at_) return Fail();
    at_ += length;
    return length + kShort;  // "_GLOBAL__N_1" is longer in words
  }

  uint64_t Substitution() {
    if (!Take("S")) return Fail();
    if (IsLower(Peek())) {
      ++at_;
      uint64_t size = kStandard;
      while (!failed_ && Take("B")) size += SourceName() + 8;
      return size;
    }
    uint64_t index = 0;
    if (Peek() != '_') {
      for (; IsDigit(Peek()) || IsUpper(Peek()); ++at_) {
        const char c = Peek();
        index = index * 36 + static_cast<uint64_t>(IsDigit(c) ? c - '0' : c - 'A' + 10);
        if (index > text_.size()) return Fail();
      }
      ++index;
    }
    return Take("_") && index < parts_.size() ? parts_[index] : Fail();
  }

  // Which argument it names is not followed: none is longer than the longest.
  uint64_t TemplateParameter() {
    if (!Take("T")) return Fail();
    if (Take("L")) {
      Number();
      if (!Take("_")) return Fail();
    }
    Number();
    return Take("_") ? std::max(longest_argument_, kShort) : Fail();
  }

  uint64_t Arguments() {
    if (!Take("I") || ++depth_ > kMaxDepth) return Fail();
    uint64_t size = 2;
    uint64_t count = 0;
    while (!failed_ && !Take("E")) {
      const uint64_t argument = Argument();
      longest_argument_ = std::max(longest_argument_, argument);
      size += argument + 3;
      ++count;
    }
    most_arguments_ = std::max(most_arguments_, count);
    --depth_;
    return std::min(size, kMost);
  }

  uint64_t Argument() {
    if (Take("X")) {
      const uint64_t size = Expression();
      return Take("E") ? size : Fail();
    }
    if (Peek() == 'L') return Literal();
    if (!Take("J")) return Type();
    uint64_t size = 0;
    uint64_t count = 0;
    while (!failed_ && !Take("E")) {
      size += Argument() + 2;
      ++count;
    }
    most_arguments_ = std::max(most_arguments_, count);
    return std::min(size, kMost);
  }

  uint64_t Literal() {
    Take("L");
    if (Take("_Z")) {
      const uint64_t size = Encoding();
      return Take("E") ? size + 2 : Fail();
    }
    uint64_t size = Type() + 4;
    const size_t start = at_;
    while (at_ < text_.size() && (IsDigit(Peek()) || IsLower(Peek()) || Peek() == '_')) ++at_;
    size += at_ - start;
    return Take("E") ? size : Fail();
  }

  uint64_t Decltype() {
    Skip(2);
    const uint64_t size = Expression() + kShort;
    return Take("E") ? size : Fail();
  }

  // The forms that conditions on templates are made of. Others are not known.
  uint64_t Expression() {
    if (failed_ || ++depth_ > kMaxDepth) return Fail();
    const uint64_t size = ExpressionForm() + kShort;
    --depth_;
    return std::min(size, kMost);
  }

  uint64_t ExpressionForm() {
    if (Peek() == 'L') return Literal();
    if (Peek() == 'T') return TemplateParameter();
    if (IsDigit(Peek())) return UnresolvedName();
    if (Take("fp") || Take("fL")) {
      Number();
      Take("p");
      while (In(Peek(), "rVK")) ++at_;
      Number();
      return Take("_") ? kShort : Fail();
    }
    if (Take("sr")) {
      const uint64_t size = Type();
      return size + UnresolvedName();
    }
    if (Take("st") || Take("ti") || Take("at")) return Type();
    if (Take("sZ")) return Peek() == 'T' ? TemplateParameter() : Expression();
    if (Take("sp")) return Expression() * std::max<uint64_t>(most_arguments_, 1);
    if (Take("cv")) {
      uint64_t size = Type();
      if (!Take("_")) return size + Expression();
      while (!failed_ && !Take("E")) size += Expression();
      return size;
    }
    if (Take("cl")) {
      uint64_t size = 0;
      while (!failed_ && !Take("E")) size += Expression() + 2;
      return size;
    }
    if (Take("dt") || Take("pt")) {
      const uint64_t size = Expression();
      return size + UnresolvedName();
    }
    for (const std::string_view cast : {"dc", "sc", "cc", "rc"}) {
      if (Take(cast)) {
        const uint64_t size = Type();
        return size + Expression();
      }
    }
    for (const std::string_view unary : {"ps", "ng", "ad", "de", "co", "nt", "sz", "nx", "te"}) {
      if (Take(unary)) return Expression();
    }
    for (const std::string_view binary :
         {"pl", "mi", "ml", "dv", "rm", "an", "or", "eo", "ls", "rs",
          "eq", "ne", "lt", "gt", "le", "ge", "aa", "oo", "cm", "ix"}) {
      if (Take(binary)) {
        const uint64_t size = Expression();
        return size + Expression();
      }
    }
    if (Take("qu")) {
      uint64_t size = Expression();
      size += Expression();
      return size + Expression();
    }
    return Fail();
  }

  uint64_t UnresolvedName() {
    uint64_t size = Take("on") ? kShort + 2 : 0;
    if (size != 0) {
      if (!IsLower(Peek())) return Fail();
      Skip(2);
    } else if (IsDigit(Peek())) {
      size = SourceName();
    } else {
      return Fail();
    }
    return Peek() == 'I' ? size + Arguments() : size;
  }

  uint64_t Type() {
    if (failed_ || ++depth_ > kMaxDepth) return Fail();
    const uint64_t size = std::min(TypeForm() + kShort, kMost);
    --depth_;
    return size;
  }

  uint64_t TypeForm() {
    const char c = Peek();
    if (In(c, "vwbcahstijlmxynofdegz")) {
      ++at_;
      return kShort;
    }
    if (In(c, "rVK")) {
      while (In(Peek(), "rVK")) ++at_;
      return Keep(Type() + kShort);
    }
    if (In(c, "PROCG")) {
      ++at_;
      return Keep(Type() + kShort);
    }
    if (Take("u")) return Keep(SourceName());
    if (c == 'D') return TypeWithD();
    if (Take("F")) return FunctionType();
    if (Take("A")) {
      if (IsDigit(Peek())) {
        Number();
      } else if (Peek() != '_') {
        Expression();
      }
      return Take("_") ? Keep(Type() + kShort) : Fail();
    }
    if (Take("M")) {
      const uint64_t size = Type();
      return Keep(size + Type());
    }
    if (c == 'T' && In(Peek(1), "sue")) {
      Skip(2);
      return Keep(Name());
    }
    if (c == 'T') {
      const uint64_t size = Keep(TemplateParameter());
      return Peek() == 'I' ? Keep(size + Arguments()) : size;
    }
    if (c == 'S' && Peek(1) != 't') {
      const uint64_t size = Substitution();
      return Peek() == 'I' ? Keep(size + Arguments()) : size;
    }
    return Keep(Name());
  }

  uint64_t TypeWithD() {
    const char c = Peek(1);
    if (In(c, "defhnisuac")) {
      Skip(2);
      return kShort;
    }
    if (In(c, "tT")) return Keep(Decltype());
    if (Take("Dp")) {
      const uint64_t pattern = Type() + 2;
      return Keep(pattern * std::max<uint64_t>(most_arguments_, 1));
    }
    if (Take("Dv")) {
      Number();
      return Take("_") ? Keep(Type() + kShort) : Fail();
    }
    if (Take("Do")) return Take("F") ? FunctionType() : Fail();
    return Fail();
  }

  uint64_t FunctionType() {
    Take("Y");
    uint64_t size = kShort;
    while (!failed_ && !Take("E")) {
      if (Take("RE") || Take("OE")) break;
      size += Type() + 2;
    }
    return Keep(size);
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
  uint64_t longest_argument_ = 0;
  uint64_t most_arguments_ = 1;
  std::vector<uint64_t> parts_;
};

}  // namespace

uint64_t DemangledSizeBound(std::string_view mangled) {
  uint64_t size = 0;
  return Sizer(mangled).Run(size) ? size : UINT64_MAX;
}

}  // namespace cuproof
