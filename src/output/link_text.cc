#include "output/link_text.h"

#include <fmt/format.h>

#include "output/escape.h"
#include "symbol/demangle.h"

namespace cuproof {
namespace {

std::string PathOf(const Process& process, uint32_t object) {
  return object == kNoObject ? "?" : EscapeTerminal(process.objects()[object].path);
}

std::string Chain(const Process& process, uint32_t object) {
  std::string text;
  for (const uint32_t link : process.ChainOf(object)) {
    if (!text.empty()) text += " -> ";
    text += PathOf(process, link);
  }
  return text;
}

std::string SymbolText(const MissingSymbol& missing) {
  std::string text = EscapeTerminal(DemangledOrSame(missing.name));
  if (!missing.version.empty())
    text += fmt::format(", version {}", EscapeTerminal(missing.version));
  return text;
}

std::string Why(const MissingSymbol& missing, const Process& process) {
  switch (missing.reason) {
    case MissingReason::kNotInScope:
      return fmt::format(" (in {}, which was loaded without RTLD_GLOBAL)",
                         PathOf(process, missing.elsewhere));
    case MissingReason::kOtherVersion:
      return fmt::format(" ({} has it {})", PathOf(process, missing.elsewhere),
                         missing.other_version.empty()
                             ? "without version"
                             : "as " + EscapeTerminal(missing.other_version));
    case MissingReason::kNowhere:
      break;
  }
  return "";
}

void AddReport(std::string& text, const LoadReport& report, const Process& process) {
  if (report.outcome.error) {
    text += fmt::format("  {}\n", EscapeTerminal(report.outcome.error->Text()));
  }
  for (const MissingLibrary& missing : report.outcome.missing) {
    text += fmt::format("  missing library {}, needed by {}\n", EscapeTerminal(missing.name),
                        Chain(process, missing.wanted_by));
    for (const Candidate& candidate : missing.unfit) {
      text += fmt::format("    {}: {}\n", EscapeTerminal(candidate.path),
                          candidate.unreadable ? "no ELF file" : "for another machine, skipped");
    }
  }
  for (const VersionError& error : report.version_errors) {
    if (error.kind == VersionErrorKind::kNoInformation) {
      text += fmt::format("  {} has no version information, which {} wants (no error)\n",
                          PathOf(process, error.provider), PathOf(process, error.wanted_by));
      continue;
    }
    text += fmt::format(
        "  version {} not found in {}, wanted by {}{}{}\n", EscapeTerminal(error.version),
        PathOf(process, error.provider), PathOf(process, error.wanted_by),
        error.newest.empty() ? "" : "; its newest is " + EscapeTerminal(error.newest),
        error.fatal() ? "" : " (weak: no error)");
  }
  for (const MissingSymbol& missing : report.missing_symbols) {
    text += fmt::format("  undefined symbol {}, wanted by {}{}\n", SymbolText(missing),
                        PathOf(process, missing.wanted_by), Why(missing, process));
  }
  for (const Error& damage : report.damage) {
    text += fmt::format("  damage: {}\n", EscapeTerminal(damage.Text()));
  }
}

}  // namespace

std::string LinkText(const LinkReport& report) {
  std::string text;
  for (const PreparationStep& step : report.prepared.steps) {
    if (step.report.loads()) continue;
    text += fmt::format("{}: does not load on the way\n", EscapeTerminal(step.path));
    AddReport(text, step.report, report.prepared.ProcessOf(step));
  }
  for (const LinkedFile& file : report.files) {
    text += fmt::format("{}: {}\n", EscapeTerminal(file.file),
                        file.report.loads() ? "loads" : "does not load");
    AddReport(text, file.report, file.process);
    if (file.report.outcome.root == kNoObject) continue;
    for (const uint32_t index : file.report.outcome.scope) {
      const LoadedObject& object = file.process.objects()[index];
      if (index == file.report.outcome.root) continue;
      const bool before = object.load != file.process.objects()[file.report.outcome.root].load;
      text += fmt::format("  {} => {} ({}{})\n", EscapeTerminal(object.requested),
                          EscapeTerminal(object.path), before ? "loaded before, by " : "",
                          FoundByName(object.found_by));
    }
  }
  return text;
}

}  // namespace cuproof
