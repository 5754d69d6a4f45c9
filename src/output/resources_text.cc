#include "output/resources_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "output/advice_text.h"
#include "output/escape.h"
#include "output/kernel_name.h"
#include "output/layout.h"
#include "output/number.h"

namespace cuproof {
namespace {

constexpr size_t kUsualRows = 25;
constexpr size_t kNarrowestName = 16;
constexpr size_t kWidestName = 100;
// Of all columns but the name, with the longest usual words: all of them, and in a narrow terminal
// those that are left.
constexpr size_t kNumbersWidth = 80;
constexpr size_t kNarrow = 100;
constexpr size_t kNarrowNumbersWidth = 64;
constexpr double kLowOccupancy = 0.25;

// Which of the marks were used, to explain only those.
struct Marks {
  bool at_most = false;
  bool unknown_spills = false;
  bool more = false;
  bool required = false;
  bool bounds = false;
  bool best = false;
  bool no_launch = false;
};

std::string OrDash(std::optional<uint32_t> value) { return value ? Thousands(*value) : "?"; }

Span SpillText(const KernelResources& kernel, Marks& marks) {
  if (!kernel.spills) {
    marks.unknown_spills = true;
    return {"?", Tone::kDim};
  }
  const Spills& spills = *kernel.spills;
  const Spills callees = kernel.callee_spills.value_or(Spills{});
  const bool more = callees.stores + callees.loads > 0;
  if (spills.stores + spills.loads == 0 && !more) return {"-", Tone::kDim};
  const std::string text =
      fmt::format("{}/{}{}", Thousands(spills.stores), Thousands(spills.loads), more ? "+" : "");
  marks.more |= more;
  if (spills.basis != SpillBasis::kAtMost) return {text, Tone::kYellow};
  marks.at_most = true;
  return {"<=" + text};
}

Span StackText(const KernelResources& kernel, Marks& marks) {
  const uint32_t stack =
      std::max(kernel.cumulative_stack.value_or(0), kernel.stack_frame.value_or(0));
  if (kernel.indirect_calls || kernel.recursion) {
    marks.more = true;
    return {Thousands(stack) + "+", Tone::kYellow};
  }
  if (!kernel.cumulative_stack && !kernel.stack_frame) return {"?", Tone::kDim};
  return stack == 0 ? Span{"-", Tone::kDim} : Span{Thousands(stack)};
}

Span NumberOrNone(std::optional<uint32_t> value) {
  if (!value) return {"?", Tone::kDim};
  return *value == 0 ? Span{"-", Tone::kDim} : Span{Thousands(*value)};
}

std::string BlockText(const LaunchAnswer& answer, Marks& marks) {
  switch (answer.basis) {
    case BlockBasis::kRequired:
      marks.required = true;
      return fmt::format("{}=", answer.block);
    case BlockBasis::kBounds:
      marks.bounds = true;
      return fmt::format("{}^", answer.block);
    case BlockBasis::kBest:
      marks.best = true;
      return fmt::format("{}*", answer.block);
    case BlockBasis::kAsked:
      break;
  }
  return fmt::format("{}", answer.block);
}

const char* ShortName(Resource resource) {
  switch (resource) {
    case Resource::kWarps:
      return "warps";
    case Resource::kBlocks:
      return "blocks";
    case Resource::kRegisters:
      return "regs";
    case Resource::kShared:
      return "smem";
    case Resource::kBarriers:
      return "bars";
    case Resource::kVirtual:
      return "tmem";
    case Resource::kCompiled:
      break;
  }
  return "bounds";
}

// At full occupancy nothing that could be saved limits it.
std::string LimitText(const Occupancy& occupancy) {
  std::string text;
  for (const Resource resource : occupancy.limits) {
    if (occupancy.fraction >= 1) continue;
    if (!text.empty()) text += ",";
    text += ShortName(resource);
  }
  return text;
}

void AddOccupancy(const KernelLine& line, Marks& marks, std::vector<Span>& cells) {
  if (!line.answer) {
    cells.insert(cells.end(), {{"?", Tone::kDim}, {"?", Tone::kDim}, {"?", Tone::kDim}, {}});
    return;
  }
  const LaunchAnswer& answer = *line.answer;
  const Occupancy& occupancy = answer.occupancy;
  cells.push_back({BlockText(answer, marks)});
  if (occupancy.blocks == 0) {
    marks.no_launch = true;
    cells.push_back({fmt::format("0/{}", answer.sm_warps), Tone::kRed});
    cells.push_back({"none", Tone::kBoldRed});
  } else {
    const bool low = occupancy.fraction < kLowOccupancy;
    cells.push_back({fmt::format("{}/{}", occupancy.warps, answer.sm_warps)});
    cells.push_back(
        {fmt::format("{:.0f} %", occupancy.fraction * 100), low ? Tone::kYellow : Tone::kPlain});
  }
  cells.push_back({LimitText(occupancy), Tone::kDim});
}

std::vector<Span> Cells(const KernelLine& line, size_t name_width, Marks& marks) {
  const KernelResources& kernel = line.row->resources;
  const std::string copies = line.copies > 1 ? fmt::format(" x{}", line.copies) : "";
  std::vector<Span> cells = {
      {ShortKernelName(*line.row->name, name_width - copies.size()) + copies, Tone::kBold},
      {"sm_" + ArchText(line.row->arch) +
       (line.answer && line.answer->sm != line.row->arch.number
            ? fmt::format(" on {}", line.answer->sm)
            : "")},
      {OrDash(kernel.registers)},
      SpillText(kernel, marks),
      StackText(kernel, marks),
      NumberOrNone(kernel.static_shared),
      NumberOrNone(kernel.barriers)};
  AddOccupancy(line, marks, cells);
  return cells;
}

// Barriers and warps: the one is seldom the question, the other is told by the occupancy.
constexpr size_t kBarrierColumn = 6;
constexpr size_t kWarpsColumn = 8;

template <typename Cell>
std::vector<Cell> Fitting(std::vector<Cell> cells, const Style& style) {
  if (style.width >= kNarrow) return cells;
  cells.erase(cells.begin() + kWarpsColumn);
  cells.erase(cells.begin() + kBarrierColumn);
  return cells;
}

std::vector<Span> Header() {
  std::vector<Span> cells;
  for (const char* name : {"kernel", "arch", "regs", "spill st/ld", "stack", "smem", "bar", "block",
                           "warps", "occ", "limit"}) {
    cells.push_back({name, Tone::kDim});
  }
  return cells;
}

std::string Summary(const FileKernels& file, const std::vector<KernelLine>& lines) {
  std::set<Arch> archs;
  std::unordered_set<const std::string*> names;
  size_t spilling = 0;
  size_t low = 0;
  size_t never = 0;
  uint32_t most = 0;
  for (const KernelLine& line : lines) {
    archs.insert(line.row->arch);
    names.insert(line.row->name);
    const auto& spills = line.row->resources.spills;
    spilling += spills && spills->basis != SpillBasis::kAtMost && spills->stores + spills->loads;
    const bool launches = line.answer && line.answer->occupancy.blocks > 0;
    low += launches && line.answer->occupancy.fraction < kLowOccupancy;
    never += line.answer && !launches;
    most = std::max(most, line.row->resources.registers.value_or(0));
  }
  std::string text =
      fmt::format("{} for {}", Count(names.size(), "kernel"), Count(archs.size(), "architecture"));
  if (lines.empty()) {
    text = file.ptx_modules > 0
               ? fmt::format(
                     "only PTX for this GPU, in {}: the driver compiles it, so its "
                     "registers are not known before",
                     Count(file.ptx_modules, "module"))
               : "no kernels";
    return text;
  }
  text += fmt::format("; up to {} registers", most);
  if (spilling) text += fmt::format("; {} spill", Thousands(spilling));
  if (low)
    text += fmt::format("; {} under {:.0f} % occupancy", Thousands(low), kLowOccupancy * 100);
  if (never) text += fmt::format("; {} not launch", Count(never, "does", "do"));
  if (file.ptx_modules > 0) {
    text += fmt::format("; {} with only PTX for this GPU", Count(file.ptx_modules, "module"));
  }
  return text;
}

void AppendLegend(const Marks& marks, const Style& style, std::string& out) {
  const std::pair<bool, const char*> texts[] = {
      {marks.at_most,
       "<=  the compiler did not mark spills: all accesses to local memory, those of arrays too"},
      {marks.unknown_spills, "?   not told by this image"},
      {marks.more,
       "+   at least: recursion, calls through pointers, or spills of the functions that it calls"},
      {marks.required, "=   the block that it requires"},
      {marks.bounds, "^   the largest block that it was compiled for"},
      {marks.best, "*   the smallest block with the highest occupancy"},
      {marks.no_launch, "none  a block of that size does not launch"}};
  for (const auto& [used, text] : texts) {
    if (used) out += "  " + Paint(style, Tone::kDim, text) + "\n";
  }
}

// The names get what the numbers leave.
size_t NameWidth(const Style& style) {
  if (!style.terminal && style.verbose) return kWidestName;
  const size_t numbers = style.width < kNarrow ? kNarrowNumbersWidth : kNumbersWidth;
  const size_t width = style.width > numbers ? style.width - numbers : 0;
  return std::clamp(width, kNarrowestName, kWidestName);
}

class Writer {
 public:
  Writer(const ResourcesTextOptions& options, const Style& style)
      : options_(options), style_(style) {}

  std::string Write(const Survey& survey) {
    for (const FileKernels& file : survey.files) AppendFile(file);
    AppendLegend(marks_, style_, out_);
    return std::move(out_);
  }

 private:
  size_t RowsOf(size_t lines) const {
    if (options_.top != 0) return std::min(options_.top, lines);
    return style_.verbose ? lines : std::min(kUsualRows, lines);
  }

  void AppendFile(const FileKernels& file) {
    const auto lines = KernelLines(file, options_.question, options_.order);
    const Span label{EscapeTerminal(file.path) + "  ", Tone::kBold};
    AppendParagraph(style_, {0, 2, label, {{Summary(file, lines)}}}, out_);
    if (lines.empty()) return;
    const size_t rows = RowsOf(lines.size());
    TextTable table(Fitting<Align>(
        {Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
         Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kBroken},
        style_));
    table.Row(Fitting(Header(), style_));
    for (size_t i = 0; i < rows; ++i) {
      table.Row(Fitting(Cells(lines[i], NameWidth(style_), marks_), style_));
      if (!options_.advice) continue;
      for (const std::string& text : AdviceTexts(lines[i], options_.question))
        table.Note(0, {"  " + text});
    }
    table.Append(style_, 2, out_);
    if (rows < lines.size()) {
      const std::string more =
          fmt::format("... and {} more: --verbose shows all, --top N the first N",
                      Thousands(lines.size() - rows));
      out_ += "  " + Paint(style_, Tone::kDim, more) + "\n";
    }
    out_ += "\n";
  }

  const ResourcesTextOptions& options_;
  const Style& style_;
  Marks marks_;
  std::string out_;
};

}  // namespace

std::string ResourcesText(const Survey& survey, const ResourcesTextOptions& options,
                          const Style& style) {
  return Writer(options, style).Write(survey);
}

}  // namespace cuproof
