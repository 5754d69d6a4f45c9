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
constexpr size_t kIndent = 2;
constexpr size_t kGap = 2;  // between columns
constexpr size_t kWidestName = 100;
constexpr size_t kNarrow = 100;  // columns: below, two of ours are left out
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
  if (answer.block == 0) return "-";
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

Span NameCell(const KernelLine& line, size_t width) {
  const std::string copies = line.copies > 1 ? fmt::format(" x{}", line.copies) : "";
  return {ShortKernelName(*line.row->name, width - copies.size()) + copies, Tone::kBold};
}

// All but the name.
std::vector<Span> Numbers(const KernelLine& line, Marks& marks) {
  const KernelResources& kernel = line.row->resources;
  std::vector<Span> cells = {{"sm_" + ArchText(line.row->arch) +
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
constexpr size_t kBarrierColumn = 5;
constexpr size_t kWarpsColumn = 7;

template <typename Cell>
std::vector<Cell> Fitting(std::vector<Cell> cells, const Style& style) {
  if (style.width >= kNarrow) return cells;
  cells.erase(cells.begin() + kWarpsColumn);
  cells.erase(cells.begin() + kBarrierColumn);
  return cells;
}

std::vector<Span> Header() {
  std::vector<Span> cells;
  for (const char* name :
       {"arch", "regs", "spill st/ld", "stack", "smem", "bar", "block", "warps", "occ", "limit"}) {
    cells.push_back({name, Tone::kDim});
  }
  return cells;
}

// Of many only the number: with --gpu all that is every GPU but a few.
std::string NothingFor(const std::set<uint32_t>& sms) {
  constexpr size_t kFew = 4;
  if (sms.size() > kFew) return fmt::format("nothing for {} of the GPUs", sms.size());
  return fmt::format("nothing for sm_{}", fmt::join(sms, ", sm_"));
}

std::string ArchsText(const std::set<Arch>& archs) {
  std::string text;
  for (const Arch arch : archs) text += (text.empty() ? "sm_" : ", sm_") + ArchText(arch);
  return text;
}

std::string WhyNone(const FileKernels& file) {
  constexpr const char* kPtx = "the driver compiles it, so its registers are not known before";
  if (file.ptx_modules > 0) {
    return fmt::format("only PTX for this GPU, in {}: {}", Count(file.ptx_modules, "module"), kPtx);
  }
  if (!file.nothing_for.empty()) {
    return fmt::format("{}: {}", NothingFor(file.nothing_for),
                       file.archs.empty() ? "no cubins are inside, and no PTX that it takes"
                                          : "the code inside is for " + ArchsText(file.archs));
  }
  if (file.other_kernels > 0) {
    return fmt::format("none of {} has such a name: a pattern must fit all of it, as '*name*'",
                       Count(file.other_kernels, "kernel"));
  }
  if (file.device_functions > 0) {
    return fmt::format("no kernels, {}: --format json has them",
                       Count(file.device_functions, "device function"));
  }
  if (!file.archs.empty()) return "no kernels in the cubins inside";
  if (file.ptx_images > 0) return std::string("only PTX: ") + kPtx;
  return "no kernels: nothing compiled for a GPU is inside, and no lines of ptxas -v";
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
  if (lines.empty()) return WhyNone(file);
  if (most > 0) text += fmt::format("; up to {} registers", most);
  if (spilling) text += fmt::format("; {} spill", Thousands(spilling));
  if (low)
    text += fmt::format("; {} under {:.0f} % occupancy", Thousands(low), kLowOccupancy * 100);
  if (never) text += fmt::format("; {} not launch", Count(never, "does", "do"));
  if (!file.nothing_for.empty()) text += "; " + NothingFor(file.nothing_for);
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

std::vector<Align> Columns(const Style& style) {
  std::vector<Align> columns = {Align::kLeft};
  columns.insert(columns.end(), 8, Align::kRight);
  columns.push_back(Align::kBroken);
  return Fitting(columns, style);
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
    std::vector<std::vector<Span>> numbers = {Fitting(Header(), style_)};
    for (size_t i = 0; i < rows; ++i) numbers.push_back(Fitting(Numbers(lines[i], marks_), style_));
    const size_t width = NameWidth(numbers);
    std::vector<Align> columns = Columns(style_);
    columns.insert(columns.begin(), Align::kLeft);
    TextTable table(columns);
    for (size_t i = 0; i < numbers.size(); ++i) {
      std::vector<Span>& row = numbers[i];
      row.insert(row.begin(), i ? NameCell(lines[i - 1], width) : Span{"kernel", Tone::kDim});
      table.Row(std::move(row));
    }
    table.Append(style_, kIndent, out_);
    if (rows < lines.size()) {
      const std::string more =
          fmt::format("... and {} more: --verbose shows all, --top N the first N",
                      Thousands(lines.size() - rows));
      out_ += "  " + Paint(style_, Tone::kDim, more) + "\n";
    }
    if (options_.advice) AppendAdvice(lines, rows, width);
    out_ += "\n";
  }

  // The names get what the numbers leave.
  size_t NameWidth(const std::vector<std::vector<Span>>& numbers) const {
    if (!style_.terminal && style_.verbose) return kWidestName;
    TextTable probe(Columns(style_));
    for (const std::vector<Span>& row : numbers) probe.Row(row);
    const size_t taken = kIndent + probe.Width() + kGap;
    return std::clamp(style_.width > taken ? style_.width - taken : 0, kNarrowestName, kWidestName);
  }

  // The only one that was named of its architecture.
  std::string Product(const KernelLine& line) const {
    std::string product;
    for (const Gpu& gpu : options_.gpus) {
      if (!line.answer || gpu.sm != line.answer->sm) continue;
      if (!product.empty()) return {};
      product = gpu.product;
    }
    return product;
  }

  void AppendAdvice(const std::vector<KernelLine>& lines, size_t rows, size_t width) {
    for (size_t i = 0; i < rows; ++i) {
      const KernelLine& line = lines[i];
      const std::string name = ShortKernelName(*line.row->name, width);
      const std::string where = line.answer ? fmt::format("on sm_{}, {} threads a block",
                                                          line.answer->sm, line.answer->block)
                                            : "";
      AppendParagraph(style_, {2, 4, {name + "  ", Tone::kBold}, {{where}}}, out_);
      for (const std::string& text : AdviceTexts(line, options_.question, Product(line))) {
        AppendParagraph(style_, {4, 6, {"- "}, {{text}}}, out_);
      }
    }
  }

  const ResourcesTextOptions& options_;
  const Style& style_;
  Marks marks_;
  std::string out_;
};

}  // namespace

std::string ResourcesText(const Survey& survey, const ResourcesTextOptions& options,
                          const Style& style) {
  if (survey.files.empty() && survey.problems.empty())
    return "no kernels: no file with device code was found\n";
  return Writer(options, style).Write(survey);
}

}  // namespace cuproof
