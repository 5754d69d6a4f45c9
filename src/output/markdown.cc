#include "output/markdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "output/escape.h"
#include "output/number.h"

namespace cuproof {
namespace {

constexpr std::string_view kSpecial = "&<>|`*_[]()#@!~\\$:";
constexpr size_t kCell = 400;  // bytes of text in one cell

std::string Cell(std::string_view text) {
  if (text.size() <= kCell) return EscapeMarkdown(text);
  return EscapeMarkdown(text.substr(0, kCell)) + "...";
}

std::string Heading(const std::string& title, const std::vector<Finding>& findings,
                    const std::vector<Error>& problems) {
  uint64_t counts[3] = {};
  for (const Finding& finding : findings) ++counts[static_cast<size_t>(finding.severity)];
  std::string text =
      fmt::format("### {}: {}, {}, {}\n", EscapeMarkdown(title), Count(counts[2], "error"),
                  Count(counts[1], "warning"), Count(counts[0], "note"));
  if (!problems.empty())
    text += fmt::format("\n{} could not be read.\n", Count(problems.size(), "input"));
  return text;
}

}  // namespace

std::string EscapeMarkdown(std::string_view text) {
  std::string out;
  for (const char c : EscapeTerminal(text)) {
    if (kSpecial.find(c) == std::string_view::npos) {
      out += c;
    } else {
      out += fmt::format("&#{};", static_cast<int>(c));
    }
  }
  return out;
}

MarkdownTable::MarkdownTable(const std::vector<std::string>& head, size_t limit) : limit_(limit) {
  std::string rule = "|";
  text_ = "|";
  for (const std::string& name : head) {
    text_ += ' ' + name + " |";
    rule += "---|";
  }
  text_ += '\n' + rule + '\n';
}

void MarkdownTable::Row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += ' ' + cell + " |";
  if (left_out_ > 0 || text_.size() + row.size() > limit_) {
    ++left_out_;
    return;
  }
  ++rows_;
  text_ += row + '\n';
}

std::string MarkdownTable::Text() const {
  if (rows_ + left_out_ == 0) return {};
  if (left_out_ == 0) return text_;
  return text_ + fmt::format("\nand {} more\n", Thousands(left_out_));
}

std::string FindingsMarkdown(const std::string& title, const std::vector<Finding>& findings,
                             const std::vector<Error>& problems) {
  std::string text = Heading(title, findings, problems);
  MarkdownTable table({"", "file", "about", "what", "fix"}, kMarkdownBytes - text.size() - 100);
  for (const Severity severity : {Severity::kError, Severity::kWarning, Severity::kNote}) {
    for (const Finding& finding : findings) {
      if (finding.severity != severity) continue;
      table.Row({fmt::format("{} {}", SeverityName(severity), Cell(finding.id)), Cell(finding.file),
                 Cell(finding.subject), Cell(finding.message), Cell(finding.fix)});
    }
  }
  const std::string rows = table.Text();
  return rows.empty() ? text : text + '\n' + rows;
}

}  // namespace cuproof
