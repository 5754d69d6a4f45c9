#include "resource/lint_text.h"

#include <algorithm>
#include <charconv>

namespace cuproof {
namespace {

constexpr size_t kMostOperands = 64;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view TakeWord(std::string_view& text) {
  text = Trim(text);
  const size_t end = std::min(text.find_first_of(" \t\r\n"), text.size());
  const std::string_view word = text.substr(0, end);
  text = Trim(text.substr(end));
  return word;
}

std::vector<std::string_view> SplitOperands(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < text.size() && parts.size() < kMostOperands; ++i) {
    const char c = text[i];
    if (c == '{' || c == '[' || c == '(') ++depth;
    if (c == '}' || c == ']' || c == ')') --depth;
    if (c != ',' || depth != 0) continue;
    parts.push_back(Trim(text.substr(start, i - start)));
    start = i + 1;
  }
  if (const auto last = Trim(text.substr(start)); !last.empty()) parts.push_back(last);
  return parts;
}

std::vector<std::string_view> SplitWords(std::string_view text) {
  std::vector<std::string_view> words;
  while (!Trim(text).empty() && words.size() < kMostOperands) words.push_back(TakeWord(text));
  return words;
}

PtxStatement StatementOf(std::string_view text, uint64_t offset) {
  PtxStatement statement;
  statement.offset = offset;
  if (text.starts_with('@')) {
    statement.guard = TakeWord(text);
    statement.guard.remove_prefix(1);
  }
  statement.opcode = TakeWord(text);
  statement.operands = statement.opcode.starts_with('.') ? SplitWords(text) : SplitOperands(text);
  return statement;
}

/// One pass over the text. A brace opens a body behind .entry or .func, a scope within one, and is
/// an operand within a statement.
class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  PtxModule Run() {
    while (at_ < text_.size()) Step();
    return std::move(module_);
  }

 private:
  void Step() {
    const char c = text_[at_];
    if (text_.substr(at_).starts_with("//")) {
      Skip("\n", 0);
    } else if (text_.substr(at_).starts_with("/*")) {
      Skip("*/", 2);
    } else if (c == '"') {
      Begin();
      ++at_;
      Skip("\"", 1);
    } else if (c == ';') {
      End();
    } else if (c == '{' && OpensScope()) {
      Open();
    } else if (c == '}' && begun_ == kNone) {
      Close();
    } else if (c == ':' && IsLabel()) {
      ++at_;
      Add(text_.substr(begun_, at_ - begun_));
    } else {
      if (!IsSpace(c)) Begin();
      ++at_;
    }
  }

  void Skip(std::string_view mark, size_t past) {
    const size_t found = text_.find(mark, at_);
    at_ = found == std::string_view::npos ? text_.size() : found + past;
  }

  void Begin() {
    if (begun_ == kNone) begun_ = at_;
  }

  std::string_view Begun() const {
    return begun_ == kNone ? std::string_view() : text_.substr(begun_, at_ - begun_);
  }

  // "$L__BB0_2:", and "vprintf:" with a prototype; not "::" of ".shared::cluster".
  bool IsLabel() const {
    if (begun_ == kNone || text_.substr(at_).starts_with("::") || text_[at_ - 1] == ':')
      return false;
    return Begun().find_first_of(" \t\n,[{(.") == std::string_view::npos;
  }

  bool OpensScope() const {
    const std::string_view head = Begun();
    return head.empty() || head.find(".entry") != std::string_view::npos ||
           head.find(".func") != std::string_view::npos;
  }

  void Open() {
    const std::string_view head = Begun();
    if (!head.empty() && depth_ == 0) {
      PtxBody body;
      body.is_entry = head.find(".entry") != std::string_view::npos;
      body.name = NameIn(head);
      module_.bodies.push_back(std::move(body));
    }
    ++depth_;
    begun_ = kNone;
    ++at_;
  }

  void Close() {
    if (depth_ > 0) --depth_;
    ++at_;
  }

  // ".func (.param .b32 r) name(...)", ".entry name(...)".
  static std::string_view NameIn(std::string_view head) {
    const size_t word = std::min(head.find(".entry"), head.find(".func"));
    std::string_view rest = Trim(head.substr(head.find_first_of(" \t\r\n(", word)));
    if (rest.starts_with('(')) rest = Trim(rest.substr(std::min(rest.find(')') + 1, rest.size())));
    return rest.substr(0, rest.find_first_of(" \t\r\n({"));
  }

  void End() {
    if (begun_ != kNone) Add(text_.substr(begun_, at_ - begun_));
    ++at_;
  }

  void Add(std::string_view text) {
    PtxStatement statement = StatementOf(Trim(text), begun_);
    auto& to =
        depth_ > 0 && !module_.bodies.empty() ? module_.bodies.back().statements : module_.globals;
    to.push_back(std::move(statement));
    begun_ = kNone;
  }

  static constexpr size_t kNone = std::string_view::npos;
  std::string_view text_;
  size_t at_ = 0;
  size_t begun_ = kNone;  // where the statement begins
  int depth_ = 0;
  PtxModule module_;
};

uint64_t NumberIn(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end != text.data() ? number : 0;
}

uint64_t SizeOfType(std::string_view type) {
  const size_t digits = type.find_first_of("0123456789");
  return digits == std::string_view::npos ? 0 : NumberIn(type.substr(digits)) / 8;
}

}  // namespace

bool PtxStatement::Is(std::string_view name) const {
  return opcode.starts_with(name) && (opcode.size() == name.size() || opcode[name.size()] == '.');
}

bool PtxStatement::Has(std::string_view part) const {
  for (size_t at = opcode.find('.'); at != std::string_view::npos; at = opcode.find('.', at + 1)) {
    const std::string_view rest = opcode.substr(at + 1);
    if (rest.starts_with(part) &&
        (rest.size() == part.size() || rest[part.size()] == '.' || rest[part.size()] == ':')) {
      return true;
    }
  }
  return false;
}

PtxModule SplitPtx(std::string_view text) { return Splitter(text).Run(); }

PtxVariable VariableOf(const PtxStatement& directive) {
  PtxVariable variable;
  constexpr std::string_view kSpaces[] = {".shared", ".local", ".global", ".const"};
  std::vector<std::string_view> words = {directive.opcode};
  words.insert(words.end(), directive.operands.begin(), directive.operands.end());
  uint64_t element = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (std::find(std::begin(kSpaces), std::end(kSpaces), word) != std::end(kSpaces)) {
      variable.space = word.substr(1);
    } else if (word == ".align" && i + 1 < words.size()) {
      variable.align = NumberIn(words[++i]);
    } else if (word.starts_with('.')) {
      if (const uint64_t size = SizeOfType(word)) element = size;
    } else if (!variable.space.empty() && element != 0) {
      const size_t bracket = word.find('[');
      variable.name = word.substr(0, bracket);
      const uint64_t count =
          bracket == std::string_view::npos ? 1 : NumberIn(word.substr(bracket + 1));
      variable.bytes = count * element;
      if (variable.align == 0) variable.align = element;
      break;
    }
  }
  return variable;
}

}  // namespace cuproof
