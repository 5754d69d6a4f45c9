#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "bytes/embedded.h"
#include "bytes/mapped_file.h"
#include "cli/command.h"
#include "cli/shared_options.h"
#include "output/escape.h"
#include "rule/log_words.h"

namespace cuproof {
namespace {

std::string Upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

// "# CP101: no image runs on the GPU" -> the line without its mark.
std::string_view TitleOf(std::string_view page) {
  std::string_view title = page.substr(0, page.find('\n'));
  while (!title.empty() && (title.front() == '#' || title.front() == ' ')) title.remove_prefix(1);
  return title;
}

int Show(const std::string& text) {
  const auto written = WriteOutput("", text);
  if (!written) PrintError(written.error());
  return written ? 0 : kExitCannot;
}

std::string_view TitleOfFinding(const std::string& id) {
  for (const EmbeddedText& page : EmbeddedPages()) {
    if (page.name == id) return TitleOf(page.text);
  }
  return {};
}

std::string MatchText(const LogMatch& match) {
  constexpr size_t kLongest = 200;
  std::string text = fmt::format("line {}: {}\n", match.line,
                                 EscapeTerminal(std::string_view(match.text).substr(0, kLongest)));
  if (match.count > 1) text += fmt::format("  and {} more lines say the same\n", match.count - 1);
  text += fmt::format("  cause: {}\n", EscapeTerminal(match.cause));
  text += fmt::format("  fix: {}\n", EscapeTerminal(match.fix));
  if (!match.finding.empty()) {
    text += fmt::format("  page: {} (cuproof explain {})\n", TitleOfFinding(match.finding),
                        match.finding);
  }
  return text + '\n';
}

int ExplainLog(const std::string& path) {
  const auto file = MappedFile::Open(path);
  if (!file) {
    PrintError(file.error());
    return kExitCannot;
  }
  std::string text;
  for (const LogMatch& match : MatchLog(file->bytes().Text())) text += MatchText(match);
  if (text.empty()) text = "no line of it is one that data/error_words.tsv knows\n";
  return Show(text);
}

int RunExplain(const std::string& id) {
  std::string list;
  for (const EmbeddedText& page : EmbeddedPages()) {
    if (page.name == Upper(id)) return Show(std::string(page.text));
    list += fmt::format("  {}\n", TitleOf(page.text));
  }
  struct stat status;
  if (!id.empty() && stat(id.c_str(), &status) == 0) return ExplainLog(id);
  if (id.empty())
    return Show(
        "Findings of cuproof check, of cuproof resources (CP4xx) and of cuproof report "
        "(CP5xx):\n\n" +
        list);
  PrintError({ErrorCode::kUsage,
              fmt::format("no finding has the id '{}', and no log of that name is here; "
                          "`cuproof explain` lists the findings",
                          id),
              "", std::nullopt});
  return kExitCannot;
}

}  // namespace

void AddExplainCommand(CLI::App& app, int& exit_code) {
  auto id = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "explain", "show the page of a finding, list them all, or say what a log's errors mean");
  command->add_option("ID", *id, "the id of a finding, such as CP101, or a file with a log");
  command->callback([id, &exit_code] { exit_code = RunExplain(*id); });
}

}  // namespace cuproof
