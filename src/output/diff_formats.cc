#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "output/diff_text.h"
#include "output/escape.h"
#include "output/json.h"
#include "output/markdown.h"
#include "output/number.h"

namespace cuproof {
namespace {

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json ChangeJson(const Change& change) {
  return {{"kind", ChangeKindId(change.kind)}, {"severity", SeverityName(change.severity)},
          {"subject", change.subject},         {"old", TextOrNull(change.was)},
          {"new", TextOrNull(change.is)},      {"files", change.files},
          {"evidence", change.evidence}};
}

constexpr size_t kChangesShown = 20;  // of a kind, in a table for a pull request

std::string Cell(const std::string& text) {
  constexpr size_t kCell = 200;
  return text.size() <= kCell ? EscapeMarkdown(text)
                              : EscapeMarkdown(text.substr(0, kCell)) + "...";
}

}  // namespace

std::string DiffJson(const Comparison& comparison, const std::string& version) {
  Json json;
  json["schema"] = "cuproof.diff/1";
  json["version"] = version;
  json["old"] = comparison.old_name;
  json["new"] = comparison.new_name;
  json["changes"] = Json::array();
  for (const Change& change : comparison.changes) json["changes"].push_back(ChangeJson(change));
  json["bytes"] = Json::array();
  for (const TargetBytes& bytes : comparison.bytes) {
    json["bytes"].push_back({{"target", bytes.target}, {"old", bytes.was}, {"new", bytes.is}});
  }
  json["files"] = comparison.files;
  json["kernels"] = comparison.kernels;
  json["kernels_changed"] = comparison.kernels_changed;
  json["problems"] = Json::array();
  for (const Error& problem : comparison.problems) json["problems"].push_back(ErrorJson(problem));
  return DumpJson(json, 2) + "\n";
}

std::string DiffMarkdown(const Comparison& comparison) {
  std::string text =
      fmt::format("### {} to {}\n\n", Cell(comparison.old_name), Cell(comparison.new_name));
  MarkdownTable table({"change", "about", "old", "new", "files"}, kMarkdownBytes / 2);
  std::map<ChangeKind, size_t> shown;
  for (const Change& change : comparison.changes) {
    if (shown[change.kind]++ >= kChangesShown) continue;
    const std::string files =
        change.files.size() == 1 ? Cell(change.files.front()) : Count(change.files.size(), "file");
    table.Row({fmt::format("{}{}", change.severity == Severity::kError ? "**lost** " : "",
                           Cell(ChangeKindTitle(change.kind))),
               Cell(change.subject), Cell(change.was), Cell(change.is), files});
  }
  for (const auto& [kind, count] : shown) {
    if (count > kChangesShown)
      table.Row({Cell(ChangeKindTitle(kind)),
                 fmt::format("and {} more", Thousands(count - kChangesShown)), "", "", ""});
  }
  const std::string changes = table.Text();
  const char* const none = comparison.problems.empty()
                               ? "Nothing that a user would see has changed.\n"
                               : "No change in what could be read.\n";
  text += changes.empty() ? none : changes;
  for (const Error& problem : comparison.problems)
    text += fmt::format("\n**not read:** {}\n", Cell(ErrorLine(problem)));
  MarkdownTable sizes({"device code", "old", "new"}, kMarkdownBytes / 4);
  for (const TargetBytes& bytes : comparison.bytes) {
    if (bytes.was != bytes.is)
      sizes.Row({Cell(bytes.target), HumanBytes(bytes.was), HumanBytes(bytes.is)});
  }
  const std::string rows = sizes.Text();
  return rows.empty() ? text : text + '\n' + rows;
}

}  // namespace cuproof
