#include "output/report_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "explain/context.h"
#include "output/escape.h"
#include "output/layout.h"
#include "output/number.h"

namespace cuproof {
namespace {

using trace::Process;

constexpr size_t kProcessesShown = 12;
constexpr size_t kKernelsShown = 15;
constexpr size_t kGraphsShown = 8;
constexpr size_t kErrorsShown = 12;
constexpr size_t kNotesShown = 4;
constexpr size_t kShortName = 60;  // fits every line

size_t Shown(size_t all, size_t few, const Style& style) {
  return style.verbose || all <= few + 1 ? all : few;
}

// Escaped text, cut behind a whole character.
std::string Beginning(std::string text, const Style& style) {
  constexpr size_t kLines = 3;
  size_t bytes = kLines * std::clamp<size_t>(style.width, 40, 160) - kLines * 20;
  if (style.verbose || text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  text.resize(bytes);
  return text + "...; all of it with --verbose";
}

void Title(std::string_view text, std::string_view note, const Style& style, std::string& out) {
  out += '\n';
  std::vector<Span> words = {{std::string(text), Tone::kBold}};
  if (!note.empty()) words.push_back({fmt::format(": {}", note), Tone::kDim});
  AppendParagraph(style, {0, 2, {}, words}, out);
}

// `what` is one of them.
void More(size_t all, size_t shown, const std::string& what, const Style& style, std::string& out) {
  if (shown >= all) return;
  const std::string text = fmt::format(
      "and {}: --verbose shows all",
      Count(all - shown, "more " + what, "more " + what + (what.back() == 's' ? "es" : "s")));
  AppendParagraph(style, {2, 2, {}, {{text, Tone::kDim}}}, out);
}

// The GPUs and drivers that the processes met, each once.
std::string MachineText(const RunReport& report) {
  const trace::Run& run = report.run;
  std::set<std::string> gpus;
  std::set<std::string> drivers;
  for (const Process& process : run.processes) {
    if (process.driver_version > 0)
      drivers.insert(
          fmt::format("{}.{}", process.driver_version / 1000, process.driver_version % 1000 / 10));
    for (const auto& [ordinal, device] : process.devices) {
      const auto major = device.attributes.find(75);
      const auto minor = device.attributes.find(76);
      std::string text = device.name;
      if (major != device.attributes.end() && minor != device.attributes.end())
        text += fmt::format("{}sm_{}{}", text.empty() ? "" : " (",
                            major->second * 10 + minor->second, text.empty() ? "" : ")");
      if (!text.empty()) gpus.insert(text);
    }
  }
  const auto joined = [](const std::set<std::string>& set) {
    std::string text;
    for (const std::string& entry : set) text += (text.empty() ? "" : ", ") + EscapeTerminal(entry);
    return text;
  };
  std::string text = gpus.empty() ? "GPU not known" : joined(gpus);
  const bool asked = !report.recorded || report.events_lost || run.processes.empty();
  text += drivers.empty() ? (report.recorded && report.events_lost
                                 ? "; driver version not known (events were lost)"
                             : asked ? "; driver version not known"
                                     : "; driver version not asked for")
                          : fmt::format("; driver for CUDA {}", joined(drivers));
  if (!run.driver_path.empty()) text += fmt::format(", {}", EscapeTerminal(run.driver_path));
  return text;
}

void AppendHead(const RunReport& report, const Style& style, std::string& out) {
  const trace::Run& run = report.run;
  const std::string command = Beginning(EscapeTerminal(CommandText(run.command)), style);
  AppendParagraph(
      style, {0, 2, {}, {{command.empty() ? "(no command recorded)" : command, Tone::kBold}}}, out);
  const bool failed = (run.exit_code && *run.exit_code != 0) || (run.signal && *run.signal != 0);
  AppendParagraph(style, {2, 4, {}, {{EndText(run), failed ? Tone::kBoldRed : Tone::kPlain}}}, out);
  AppendParagraph(style, {2, 4, {}, {{MachineText(report)}}}, out);
}

// How deep a process stands below the first one.
size_t DepthOf(const trace::Run& run, const Process& process) {
  constexpr size_t kDeepest = 6;
  size_t depth = 0;
  const Process* at = &process;
  while (depth < kDeepest) {
    const auto parent =
        std::find_if(run.processes.begin(), run.processes.end(), [&](const Process& other) {
          return &other != at && other.pid == at->parent && other.pid != at->pid;
        });
    if (parent == run.processes.end()) break;
    at = &*parent;
    ++depth;
  }
  return depth;
}

void AppendProcesses(const RunReport& report, const Style& style, std::string& out) {
  const auto& processes = report.run.processes;
  Title("Processes",
        !report.recorded    ? "nothing was recorded (--mode idle)"
        : processes.empty() ? "no process called the driver"
                            : "",
        style, out);
  if (processes.empty()) return;
  TextTable table(
      {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kBroken});
  table.Row({{"id", Tone::kDim},
             {"threads", Tone::kDim},
             {"launches", Tone::kDim},
             {"graphs", Tone::kDim},
             {"errors", Tone::kDim},
             {"command", Tone::kDim}});
  const size_t shown = Shown(processes.size(), kProcessesShown, style);
  for (size_t i = 0; i < shown; ++i) {
    const Process& process = processes[i];
    const uint64_t errors = ErrorCount(process);
    std::string command =
        EscapeTerminal(process.command.empty() ? process.executable : CommandText(process.command));
    command = Beginning(std::move(command), style);
    if (process.forked) command.insert(0, "(forked) ");
    table.Row({{std::string(2 * DepthOf(report.run, process), ' ') + process.stem},
               {Thousands(ThreadCount(process))},
               {Thousands(trace::KernelLaunches(process))},
               {Thousands(trace::CallCount(process, trace::Op::kGraphLaunch))},
               {Thousands(errors), errors ? Tone::kYellow : Tone::kPlain},
               {command}});
  }
  table.Append(style, 2, out);
  More(processes.size(), shown, "process", style, out);
}

// Calls of microseconds are common here, and HumanSeconds ends at milliseconds.
std::string Seconds(uint64_t ns) {
  if (ns < 1'000'000) return fmt::format("{} us", (ns + 500) / 1000);
  return HumanSeconds(static_cast<double>(ns) / 1e9);
}

// Of a launch: nanoseconds tell something.
std::string CallTime(uint64_t ns) {
  return ns < 100'000 ? fmt::format("{:.1f} us", static_cast<double>(ns) / 1e3) : Seconds(ns);
}

void AppendJit(const JitGuess& jit, const Style& style, std::string& out) {
  std::vector<std::string> parts;
  if (jit.compiled)
    parts.push_back(fmt::format("{} PTX text{} compiled in {}", Thousands(jit.compiled),
                                jit.compiled == 1 ? "" : "s", Seconds(jit.compiled_ns)));
  if (jit.cached)
    parts.push_back(
        fmt::format("{} found compiled in the cache (or very small)", Thousands(jit.cached)));
  if (jit.late)
    parts.push_back(
        fmt::format("{} took {} together: loading or compiling late",
                    Count(jit.late, "look-up or first launch", "look-ups or first launches"),
                    Seconds(jit.late_ns)));
  if (parts.empty()) return;
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
  AppendParagraph(style, {2, 4, {"by their times: ", Tone::kDim}, {{text}}}, out);
}

void AppendImages(const RunReport& report, const Style& style, std::string& out) {
  if (report.images.empty()) return;
  Title("Images loaded", "", style, out);
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.Row({{"kind", Tone::kDim},
             {"loads", Tone::kDim},
             {"failed", Tone::kDim},
             {"size", Tone::kDim},
             {"time in calls", Tone::kDim}});
  for (const LoadedKind& kind : report.images) {
    table.Row({{kind.kind.empty() ? "unknown" : EscapeTerminal(kind.kind)},
               {Thousands(kind.loads)},
               {Thousands(kind.failed), kind.failed ? Tone::kRed : Tone::kPlain},
               {HumanBytes(kind.bytes)},
               {Seconds(kind.ns)}});
  }
  table.Append(style, 2, out);
  AppendJit(report.jit, style, out);
}

void AppendKernels(const RunReport& report, const Style& style, std::string& out) {
  if (!report.recorded || report.run.processes.empty()) return;
  Title("Kernels",
        fmt::format("{} by calls, {}{}; those inside graphs are not among them",
                    Count(report.kernel_launches, "launch", "launches"),
                    report.exact ? "exact" : "not exact: counters are damaged", FailedText(report)),
        style, out);
  const bool timed = std::any_of(report.kernels.begin(), report.kernels.end(),
                                 [](const KernelCount& kernel) { return kernel.timed != 0; });
  std::vector<Align> columns = {Align::kRight, Align::kBroken};
  if (timed) columns.insert(columns.begin() + 1, {Align::kRight, Align::kRight});
  TextTable table(columns);
  const auto row = [&](uint64_t launches, std::string median, std::string longest, Span name) {
    std::vector<Span> cells = {{Thousands(launches), Tone::kBold}};
    if (timed) cells.insert(cells.end(), {{std::move(median)}, {std::move(longest)}});
    cells.push_back(std::move(name));
    table.Row(std::move(cells));
  };
  if (timed)
    table.Row({{"launches", Tone::kDim},
               {"median", Tone::kDim},
               {"longest", Tone::kDim},
               {"kernel (time of its recorded calls on the CPU)", Tone::kDim}});
  const size_t shown = Shown(report.kernels.size(), kKernelsShown, style);
  for (size_t i = 0; i < shown; ++i) {
    const KernelCount& kernel = report.kernels[i];
    row(kernel.launches, kernel.timed ? CallTime(kernel.median_ns) : "-",
        kernel.timed ? CallTime(kernel.longest_ns) : "-",
        {Beginning(EscapeTerminal(kernel.name), style)});
  }
  if (report.unnamed_launches)
    row(report.unnamed_launches, "-", "-", {"of kernels that are not told apart", Tone::kDim});
  table.Append(style, 2, out);
  More(report.kernels.size(), shown, "kernel", style, out);
}

void AppendGraphs(const RunReport& report, const Style& style, std::string& out) {
  size_t all = 0;
  size_t shown = 0;
  TextTable table({Align::kLeft, Align::kRight, Align::kLeft, Align::kBroken});
  table.Row({{"graph", Tone::kDim},
             {"made in", Tone::kDim},
             {"from", Tone::kDim},
             {"nodes", Tone::kDim}});
  for (const Process& process : report.run.processes) {
    for (const auto& [id, graph] : process.graphs) {
      ++all;
      if (!style.verbose && shown >= kGraphsShown) continue;
      ++shown;
      const bool failed = graph.result != 0;
      std::string nodes = EscapeTerminal(NodesText(graph));
      if (failed) nodes += fmt::format("; failed with {}", graph.result);
      table.Row({{fmt::format("{}/{}", process.stem, id)},
                 {Seconds(graph.ns)},
                 {EscapeTerminal(graph.origin)},
                 {nodes, failed ? Tone::kRed : Tone::kPlain}});
    }
  }
  if (all == 0) return;
  Title("Graphs",
        fmt::format("{} instantiated, {}{}", Thousands(all),
                    Count(report.graph_launches, "launch", "launches"),
                    report.exact ? " (exact)" : ""),
        style, out);
  table.Append(style, 2, out);
  More(all, shown, "graph", style, out);
}

void AppendCaptures(const RunReport& report, const Style& style, std::string& out) {
  uint64_t all = 0;
  uint64_t failed = 0;
  uint64_t open = 0;
  std::map<std::string, uint64_t> modes;
  for (const Process& process : report.run.processes) {
    for (const auto& [id, capture] : process.captures) {
      ++all;
      failed += capture.ended && capture.result != 0;
      open += !capture.ended;
      ++modes[capture.mode.empty() ? "unknown" : capture.mode];
    }
  }
  if (all == 0) return;
  std::string text;
  for (const auto& [mode, count] : modes)
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", Thousands(count), EscapeTerminal(mode));
  Title("Captures", "", style, out);
  std::vector<Span> words = {{text}};
  if (failed) words.push_back({fmt::format("; {} failed", Thousands(failed)), Tone::kRed});
  if (open) words.push_back({fmt::format("; {} not ended", Thousands(open)), Tone::kYellow});
  AppendParagraph(style, {2, 4, {}, words}, out);
}

void AppendErrors(const RunReport& report, const Style& style, std::string& out) {
  if (report.explanations.empty()) return;
  Title("Errors", "", style, out);
  size_t shown = 0;
  size_t notes = 0;
  for (const Explanation& explanation : report.explanations) {
    const bool note = explanation.finding.severity == Severity::kNote;
    if (!style.verbose && (shown >= kErrorsShown || (note && notes >= kNotesShown))) continue;
    ++shown;
    notes += note;
    if (!note || style.verbose) out += shown == 1 ? "" : "\n";
    AppendExplanation(report, explanation, style, out);
  }
  More(report.explanations.size(), shown, "error", style, out);
}

void AppendLimits(const RunReport& report, const Style& style, std::string& out) {
  Title("Lost, or not seen", "", style, out);
  const auto line = [&](const std::string& text, Tone tone) {
    AppendParagraph(style, {2, 4, {}, {{EscapeTerminal(text), tone}}}, out);
  };
  for (const std::string& loss : report.losses) line(loss, Tone::kYellow);
  for (const Error& problem : report.run.problems) line(problem.Text(), Tone::kYellow);
  for (const std::string& note : report.run.notes) line(note, Tone::kPlain);
  line("times are those of calls on the CPU: what ran on the GPU, and how long, is not recorded",
       Tone::kDim);
}

// Names of kernels that are cut, escaped, as explanations have them.
std::vector<std::string> LongNames(const Process& process, const Style& style) {
  std::vector<std::string> names;
  for (const auto& [id, function] : process.functions) {
    if (function.shown.size() < kShortName) continue;
    std::string name = EscapeTerminal(explain::KernelName(process, id));
    if (Beginning(name, style).size() < name.size()) names.push_back(std::move(name));
  }
  // The longest first: one can be the beginning of another.
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

void AppendExplanation(const RunReport& report, const Explanation& explanation, const Style& style,
                       std::string& out) {
  const Finding& finding = explanation.finding;
  const Tone tone = finding.severity == Severity::kError     ? Tone::kBoldRed
                    : finding.severity == Severity::kWarning ? Tone::kBoldYellow
                                                             : Tone::kBoldCyan;
  const Span label{fmt::format("{}[{}] ", SeverityName(finding.severity), finding.id), tone};
  // The name of a kernel can be longer than all that is said of it.
  const std::vector<std::string> names =
      style.verbose ? std::vector<std::string>()
                    : LongNames(report.run.processes[explanation.process], style);
  const auto shown = [&](const std::string& fact) {
    std::string whole = EscapeTerminal(fact);
    for (const std::string& name : names) {
      const size_t at = whole.find(name);
      if (at != std::string::npos) whole.replace(at, name.size(), Beginning(name, style));
    }
    return whole;
  };
  std::vector<Span> text = {{shown(finding.message)}};
  std::string more;
  if (explanation.count > 1)
    more = fmt::format("{}{} times", explanation.exact ? "" : "at least ",
                       Thousands(explanation.count));
  if (explanation.processes > 1) {
    more += fmt::format("{}in {} processes", more.empty() ? "" : ", ", explanation.processes);
  } else if (report.run.processes.size() > 1) {
    more += fmt::format("{}process {}", more.empty() ? "" : ", ",
                        report.run.processes[explanation.process].stem);
  }
  if (!more.empty()) text.push_back({fmt::format(" ({})", more), Tone::kDim});
  AppendParagraph(style, {0, 2, label, text}, out);
  const bool brief = finding.severity == Severity::kNote && !style.verbose;
  const size_t words = brief ? 0 : explanation.driver_words.size();
  if (!brief) {
    for (const std::string& fact : finding.evidence)
      AppendParagraph(style, {4, 6, {}, {{shown(fact)}}}, out);
  }
  for (size_t i = 0; i < words; ++i) {
    AppendParagraph(
        style,
        {4, 6, {"the driver: ", Tone::kDim}, {{EscapeTerminal(explanation.driver_words[i])}}}, out);
  }
  if (!finding.fix.empty() && !brief)
    AppendParagraph(style, {2, 7, {"fix: ", Tone::kBoldGreen}, {{EscapeTerminal(finding.fix)}}},
                    out);
}

std::string ReportText(const RunReport& report, const Style& style) {
  std::string out;
  AppendHead(report, style, out);
  AppendErrors(report, style, out);
  AppendProcesses(report, style, out);
  AppendKernels(report, style, out);
  AppendImages(report, style, out);
  AppendGraphs(report, style, out);
  AppendCaptures(report, style, out);
  AppendLimits(report, style, out);
  return out;
}

}  // namespace cuproof
