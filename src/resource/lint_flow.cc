#include "resource/lint_flow.h"

#include <algorithm>
#include <charconv>

namespace cuproof {
namespace {

bool WritesFirst(const PtxStatement& statement) {
  constexpr std::string_view kNot[] = {"st",       "red", "bra",  "call",   "bar",
                                       "barrier",  "ret", "exit", "membar", "fence",
                                       "prefetch", "cp",  "trap", "sust"};
  return std::none_of(std::begin(kNot), std::end(kNot),
                      [&](std::string_view name) { return statement.Is(name); });
}

template <typename Visit>
void EachRegister(std::string_view text, Visit visit) {
  for (size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at)) {
    const size_t end = std::min(text.find_first_of(" \t\r\n,{}[]()+|;!", at), text.size());
    visit(text.substr(at, end - at));
    at = end;
  }
}

}  // namespace

std::optional<int64_t> PtxConstant(std::string_view text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  const auto [next, error] = std::from_chars(text.data(), end, value, base);
  return error == std::errc() && next == end ? std::optional(value) : std::nullopt;
}

PtxFlow::PtxFlow(const PtxBody& body) : body_(body) {
  for (size_t i = 0; i < body.statements.size(); ++i) Note(i);
}

const PtxStatement* PtxFlow::Definition(std::string_view name) const {
  const auto found = written_.find(name);
  const bool once = found != written_.end() && found->second.size() == 1;
  return once ? &body_.statements[found->second.front()] : nullptr;
}

std::vector<const PtxStatement*> PtxFlow::Readers(std::string_view name) const {
  std::vector<const PtxStatement*> readers;
  if (const auto found = read_.find(name); found != read_.end()) {
    for (const size_t i : found->second) readers.push_back(&body_.statements[i]);
  }
  return readers;
}

void PtxFlow::Note(size_t i) {
  const PtxStatement& statement = body_.statements[i];
  if (statement.opcode.starts_with('.') || statement.IsLabel()) return;
  EachRegister(statement.guard, [&](std::string_view name) { read_[name].push_back(i); });
  const bool call = statement.Is("call");
  for (size_t k = 0; k < statement.operands.size(); ++k) {
    // What a call gives back stands somewhere among its operands.
    auto& uses = call || (k == 0 && WritesFirst(statement)) ? written_ : read_;
    EachRegister(statement.operands[k], [&](std::string_view name) { uses[name].push_back(i); });
    if (!call) continue;
    EachRegister(statement.operands[k], [&](std::string_view name) {
      written_[name].push_back(i);  // twice: so it has no definition
      read_[name].push_back(i);
    });
  }
}

}  // namespace cuproof
