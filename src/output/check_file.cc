#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "output/check_parts.h"
#include "output/escape.h"
#include "output/image_groups.h"
#include "output/layout.h"
#include "output/number.h"
#include "output/short_path.h"
#include "output/verdict_text.h"

namespace cuproof {
namespace {

std::string Joined(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

void AddOnce(std::string text, std::vector<std::string>& list) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
}

// What a file holds, each thing once.
struct Contents {
  std::vector<std::string> sass;
  std::vector<std::string> ptx;
  std::vector<std::string> other;
  std::set<Version> toolkits;
  std::set<Compression> compressions;
  uint64_t damaged = 0;
};

// "lto_75"; a kind without a name of its own for targets comes with its name: "tile-ir arch_100".
std::string OtherTarget(const Image& image) {
  if (image.kind == ImageKind::kLtoIr) return ImageTarget(image);
  return fmt::format("{} {}", ImageKindName(image.kind), ImageTarget(image));
}

Contents ContentsOf(const FileImages& file) {
  Contents contents;
  for (const ImageGroup& group : GroupImages(file, BySection::kNo)) {
    const Image& like = group.like;
    const std::string suffix = like.relocatable ? " (relocatable)" : "";
    if (like.kind == ImageKind::kCubin) {
      AddOnce(ImageTarget(like) + suffix, contents.sass);
    } else if (like.kind == ImageKind::kPtx) {
      AddOnce(fmt::format("{} (ISA {}){}", ImageTarget(like), VersionText(like.version), suffix),
              contents.ptx);
    } else {
      AddOnce(OtherTarget(like), contents.other);
    }
    if (like.toolkit.known()) contents.toolkits.insert(like.toolkit);
    contents.compressions.insert(like.compression);
    contents.damaged += group.damaged;
  }
  return contents;
}

std::string HeaderText(const FileImages& file, const Contents& contents) {
  std::vector<std::string> parts;
  const std::string kind = FileKindName(file.kind);
  parts.push_back(file.host.machine.empty() ? kind
                                            : kind + " " + EscapeTerminal(file.host.machine));
  parts.push_back(Count(file.images.size(), "image") + " in " +
                  Count(file.modules.size(), "module"));
  std::vector<std::string> toolkits;
  for (const Version toolkit : contents.toolkits) toolkits.push_back(VersionText(toolkit));
  if (!toolkits.empty()) parts.push_back("CUDA " + Joined(toolkits, "/"));
  std::vector<std::string> compressions;
  for (const Compression compression : contents.compressions) {
    if (compression != Compression::kNone) compressions.push_back(CompressionName(compression));
  }
  parts.push_back(compressions.empty() ? "not compressed" : Joined(compressions, "/"));
  return Joined(parts, ", ");
}

void AppendList(const Style& style, std::string_view name, const std::vector<std::string>& list,
                std::string_view separator, std::string& out) {
  if (list.empty()) return;
  const Span label{fmt::format("{:<6}", name), Tone::kDim};
  AppendParagraph(style, {2, 8, label, {{Joined(list, separator)}}}, out);
}

// How much of the file the verdict is about, when it is not all of it. In libraries that give each
// architecture modules of its own this is a fraction, and no fault.
std::string ModuleNote(const FileVerdict& verdict) {
  const uint64_t runs = uint64_t{verdict.sass_modules} + verdict.jit_modules;
  const uint64_t all = runs + verdict.failed_modules + verdict.unknown_modules;
  std::vector<std::string> parts;
  if (runs > 0 && runs < all) {
    parts.push_back(fmt::format("in {} of {}", Thousands(runs), Count(all, "module")));
  }
  if (verdict.jit_modules > 0 && verdict.sass_modules > 0) {
    parts.push_back(Thousands(verdict.jit_modules) + " after JIT");
  }
  return Joined(parts, ", ");
}

// What gives way when the table is wider than the terminal.
struct Shape {
  bool reasons;  // why the driver must be that new
  size_t product_width;
};

// The first words of a product's name: "RTX PRO 6000" of "RTX PRO 6000 Blackwell Server Edition".
std::string FirstWords(const std::string& name, size_t width) {
  if (DisplayWidth(name) <= width) return name;
  const size_t space = name.rfind(' ', width);
  return space == std::string::npos ? Elide(name, width) : name.substr(0, space);
}

// "580.65.06+ (CUDA 13 runtime)".
std::string FloorCell(const DriverFloor& floor, bool reasons) {
  const std::string number = FloorNumber(floor);
  if (number.empty()) return "";
  if (!reasons || floor.because.empty()) return number + "+";
  return fmt::format("{}+ ({})", number, floor.because);
}

void AddVerdict(const Gpu& gpu, const FileReport& file, const FileVerdict& verdict,
                const Shape& shape, TextTable& table) {
  table.Row({{GpuTarget(gpu)},
             {FirstWords(EscapeTerminal(gpu.product), shape.product_width), Tone::kDim},
             {OutcomeWithError(verdict.outcome, verdict.reason), OutcomeTone(verdict.outcome)},
             {EscapeTerminal(DecidedBy(file.images, verdict))},
             {EscapeTerminal(FloorCell(verdict.floor, shape.reasons))}});
  for (const std::string& note : {ReasonText(verdict.reason), ModuleNote(verdict)}) {
    if (!note.empty()) table.Note(2, {note, Tone::kDim});
  }
}

TextTable VerdictTable(const Report& report, const FileReport& file, const Shape& shape) {
  TextTable table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft});
  table.Row({{"GPU", Tone::kDim},
             {""},
             {"verdict", Tone::kDim},
             {"image", Tone::kDim},
             {"driver", Tone::kDim}});
  const size_t count = std::min(report.target.gpus.size(), file.verdicts.size());
  for (size_t i = 0; i < count; ++i) {
    AddVerdict(report.target.gpus[i], file, file.verdicts[i], shape, table);
  }
  return table;
}

void AppendVerdicts(const Report& report, const FileReport& file, const Style& style,
                    std::string& out) {
  constexpr size_t kIndent = 2;
  constexpr Shape kShapes[] = {{true, SIZE_MAX}, {true, 16}, {true, 12}, {false, 12}};
  if (report.target.gpus.empty() || file.verdicts.empty()) return;
  TextTable table = VerdictTable(report, file, kShapes[0]);
  for (const Shape& shape : kShapes) {
    table = VerdictTable(report, file, shape);
    if (kIndent + table.Width() <= style.width) break;
  }
  out += '\n';
  table.Append(style, kIndent, out);
}

}  // namespace

void AppendFile(const Report& report, const FileReport& file, const Style& style,
                std::string& out) {
  const Contents contents = ContentsOf(file.images);
  const Span label{EscapeTerminal(file.path) + "  ", Tone::kBold};
  std::vector<Span> header = {{HeaderText(file.images, contents)}};
  if (contents.damaged > 0) {
    header.push_back({", "});
    header.push_back({Count(contents.damaged, "damaged image"), Tone::kBoldRed});
  }
  AppendParagraph(style, {0, 2, label, header}, out);
  AppendList(style, "SASS", contents.sass, " ", out);
  AppendList(style, "PTX", contents.ptx, ", ", out);
  AppendList(style, "other", contents.other, ", ", out);
  AppendVerdicts(report, file, style, out);
}

}  // namespace cuproof
