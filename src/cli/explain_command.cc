#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "bytes/embedded.h"
#include "cli/command.h"
#include "cli/shared_options.h"
#include "output/escape.h"

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

int RunExplain(const std::string& id) {
  std::string list;
  for (const EmbeddedText& page : EmbeddedPages()) {
    if (page.name == Upper(id)) return Show(std::string(page.text));
    list += fmt::format("  {}\n", TitleOf(page.text));
  }
  if (id.empty())
    return Show("Findings of cuproof check, and of cuproof report (CP5xx):\n\n" + list);
  PrintError({ErrorCode::kUsage,
              fmt::format("no finding has the id '{}'; `cuproof explain` lists them", id), "",
              std::nullopt});
  return kExitCannot;
}

}  // namespace

void AddExplainCommand(CLI::App& app, int& exit_code) {
  auto id = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("explain", "show the page of a finding, or list them all");
  command->add_option("ID", *id, "the id of a finding, such as CP101");
  command->callback([id, &exit_code] { exit_code = RunExplain(*id); });
}

}  // namespace cuproof
