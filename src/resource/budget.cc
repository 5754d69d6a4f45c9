#include "resource/budget.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

// toml++ 3.3 asserts what "[)" breaks, and without assertions tells the compiler to rely on it. The
// errors behind its assertions are right, so it gets neither.
#undef NDEBUG
#define TOML_ASSERT(expr) static_assert(true)
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace cuproof {
namespace {

Error Wrong(const std::string& file, uint32_t line, const std::string& phrase) {
  return {ErrorCode::kUsage, fmt::format("line {}: {}", line, phrase), file, std::nullopt};
}

// Reads the keys of one table and remembers the first that is wrong.
class TableReader {
 public:
  TableReader(const toml::table& table, const std::string& file) : table_(table), file_(file) {}

  uint32_t Line() const { return static_cast<uint32_t>(table_.source().begin.line); }

  void Text(const char* key, std::string& value) {
    const toml::node* const node = Take(key);
    if (!node) return;
    if (const auto text = node->value_exact<std::string>()) {
      value = *text;
    } else {
      Expected(*node, key, "a text in quotes");
    }
  }

  template <typename T>
  void Number(const char* key, std::optional<T>& value,
              const char* what = "a whole number that is not negative", int64_t least = 0,
              int64_t most = UINT32_MAX) {
    const toml::node* const node = Take(key);
    if (!node) return;
    const auto number = node->value_exact<int64_t>();
    if (number && *number >= least && *number <= most) {
      value = static_cast<T>(*number);
    } else {
      Expected(*node, key, what);
    }
  }

  void Share(const char* key, std::optional<double>& value) {
    const toml::node* const node = Take(key);
    if (!node) return;
    const auto number = node->value<double>();
    if (number && *number >= 0 && *number <= 1) {
      value = number;
    } else {
      Expected(*node, key, "a share from 0 to 1, such as 0.5");
    }
  }

  void Date(const char* key, std::string& value) {
    const toml::node* const node = Take(key);
    if (!node) return;
    if (const auto date = node->value_exact<toml::date>()) {
      value = fmt::format("{:04}-{:02}-{:02}", date->year, date->month, date->day);
    } else {
      Expected(*node, key, "a date without quotes, such as 2027-01-31");
    }
  }

  // For a text that was read: whether it is one of those that have a meaning.
  void Hold(const char* key, const std::string& value, bool holds, const char* what) {
    if (!value.empty() && !holds) Expected(*table_.get(key), key, what);
  }

  void Refuse(const std::string& phrase) { Fail(Line(), phrase); }

  void Require(const char* key, const std::string& value) {
    if (value.empty()) Fail(Line(), fmt::format("'{}' is missing", key));
  }

  std::optional<Error> Done() {
    for (const auto& [key, node] : table_) {
      if (std::find(taken_.begin(), taken_.end(), key.str()) != taken_.end()) continue;
      Fail(static_cast<uint32_t>(node.source().begin.line),
           fmt::format("no key '{}' is known here; there are {}", key.str(),
                       fmt::join(taken_, ", ")));
    }
    return error_;
  }

 private:
  const toml::node* Take(const char* key) {
    taken_.emplace_back(key);
    return table_.get(key);
  }

  void Expected(const toml::node& node, const char* key, const char* what) {
    Fail(static_cast<uint32_t>(node.source().begin.line),
         fmt::format("'{}': expected {}, got {}", key, what, TextOf(node)));
  }

  static std::string TextOf(const toml::node& node) {
    if (const auto text = node.value_exact<std::string>()) return fmt::format("\"{}\"", *text);
    if (const auto number = node.value_exact<int64_t>()) return fmt::format("{}", *number);
    if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
    if (const auto truth = node.value_exact<bool>()) return *truth ? "true" : "false";
    if (node.is_array()) return "a list";
    return node.is_table() ? "a table" : "a date or time";
  }

  void Fail(uint32_t line, const std::string& phrase) {
    if (!error_) error_ = Wrong(file_, line, phrase);
  }

  const toml::table& table_;
  const std::string& file_;
  std::vector<std::string> taken_;
  std::optional<Error> error_;
};

// "sm_90", "sm_90a", "sm_100f"
bool IsArch(std::string_view text) {
  if (!text.starts_with("sm_")) return false;
  text.remove_prefix(3);
  if (!text.empty() && (text.back() == 'a' || text.back() == 'f')) text.remove_suffix(1);
  return (text.size() == 2 || text.size() == 3) &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Of the findings that a gate makes.
bool IsGateId(std::string_view text) {
  return text.size() == 5 && text.starts_with("CP40") && text.back() >= '1' && text.back() <= '9';
}

// fnmatch takes a bracket that is not closed for itself.
bool IsPattern(std::string_view text) {
  const size_t open = text.find('[');
  return open == std::string_view::npos || text.find(']', open) != std::string_view::npos;
}

constexpr const char* kPattern = "a pattern of * ? [] in which each [ has its ]";
constexpr const char* kThreads = "threads of a block, from 1 to 1024";

std::optional<Error> ReadBudget(const toml::table& table, BudgetFile& file) {
  TableReader reader(table, file.file);
  Budget budget;
  budget.line = reader.Line();
  reader.Text("kernel", budget.kernel);
  reader.Text("arch", budget.arch);
  reader.Number("registers", budget.registers);
  reader.Number("spills", budget.spills);
  reader.Number("shared", budget.shared);
  reader.Number("stack", budget.stack);
  reader.Share("occupancy", budget.occupancy);
  reader.Number("block", budget.block, kThreads, 1, 1024);
  reader.Text("reason", budget.reason);
  reader.Require("kernel", budget.kernel);
  reader.Hold("kernel", budget.kernel, IsPattern(budget.kernel), kPattern);
  reader.Hold("arch", budget.arch, IsArch(budget.arch), "an architecture such as \"sm_90\"");
  const bool limits = budget.registers || budget.spills || budget.shared || budget.stack ||
                      budget.occupancy || budget.block;
  file.budgets.push_back(std::move(budget));
  if (auto error = reader.Done()) return error;
  if (limits) return std::nullopt;
  reader.Refuse(
      "the budget limits nothing: give it registers, spills, shared, stack, occupancy or block");
  return reader.Done();
}

std::optional<Error> ReadAllowance(const toml::table& table, BudgetFile& file) {
  TableReader reader(table, file.file);
  Allowance allowance;
  allowance.line = reader.Line();
  reader.Text("kernel", allowance.kernel);
  reader.Text("id", allowance.id);
  reader.Text("reason", allowance.reason);
  reader.Date("until", allowance.until);
  reader.Require("kernel", allowance.kernel);
  reader.Require("reason", allowance.reason);
  reader.Hold("kernel", allowance.kernel, IsPattern(allowance.kernel), kPattern);
  reader.Hold("id", allowance.id, IsGateId(allowance.id), "CP401 to CP409");
  file.allowances.push_back(std::move(allowance));
  return reader.Done();
}

using ReadTable = std::optional<Error> (*)(const toml::table&, BudgetFile&);

std::optional<Error> ReadTables(const toml::node& node, const std::string& name, ReadTable read,
                                BudgetFile& file) {
  const toml::array* const tables = node.as_array();
  const auto line = static_cast<uint32_t>(node.source().begin.line);
  if (!tables) return Wrong(file.file, line, fmt::format("expected [[{}]] here", name));
  for (const toml::node& element : *tables) {
    const toml::table* const table = element.as_table();
    if (!table) return Wrong(file.file, line, fmt::format("expected [[{}]] tables", name));
    if (auto error = read(*table, file)) return error;
  }
  return std::nullopt;
}

// Of toml++ 3.3, letters such as U+00D1 outside of quotes reach what it takes for unreachable, and
// no key of ours has one. The line of the first; 0: none.
uint32_t LineOfOddLetter(std::string_view text) {
  uint32_t line = 1;
  char quote = 0;
  bool comment = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      ++line;
      quote = 0;
      comment = false;
    } else if (comment) {
      continue;
    } else if (quote == '"' && c == '\\') {
      ++i;
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0) {
      if (static_cast<signed char>(c) < 0) return line;
      if (c == '"' || c == '\'') quote = c;
      comment = c == '#';
    }
  }
  return 0;
}

// The line of the first text over several lines; 0: none.
uint32_t LineOfLongText(std::string_view text) {
  const size_t at = std::min(text.find("\"\"\""), text.find("'''"));
  if (at == std::string_view::npos) return 0;
  return 1 + static_cast<uint32_t>(std::count(text.begin(), text.begin() + at, '\n'));
}

bool Fits(const std::string& pattern, const std::string& name) {
  return !name.empty() && fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
}

}  // namespace

Result<BudgetFile> ParseBudgetFile(std::string_view text, const std::string& file) {
  if (const uint32_t line = LineOfOddLetter(text))
    return Wrong(file, line, "only texts in quotes and comments may hold more than ASCII");
  if (const uint32_t line = LineOfLongText(text))
    return Wrong(file, line, "texts over several lines are not taken");
  toml::table table;
  try {
    table = toml::parse(text, std::string_view(file));
  } catch (const toml::parse_error& error) {
    return Wrong(
        file, static_cast<uint32_t>(error.source().begin.line),
        std::string(error.description()) + "; texts stand in quotes, dates without, as 2027-01-31");
  }
  BudgetFile budgets;
  budgets.file = file;
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const bool budget = name == "budget";
    if (!budget && name != "allow") {
      return Wrong(file, static_cast<uint32_t>(node.source().begin.line),
                   fmt::format("expected [[budget]] or [[allow]], found '{}'", name));
    }
    if (auto error = ReadTables(node, name, budget ? ReadBudget : ReadAllowance, budgets))
      return *error;
  }
  if (budgets.budgets.empty() && budgets.allowances.empty())
    return Wrong(file, 1, "expected [[budget]] or [[allow]], found neither");
  return budgets;
}

bool MatchesKernel(const std::string& pattern, const MeasuredKernel& kernel) {
  return Fits(pattern, kernel.demangled) || Fits(pattern, kernel.resources.name);
}

}  // namespace cuproof
