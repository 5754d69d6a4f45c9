#include "output/inspect_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "output/escape.h"
#include "output/image_groups.h"
#include "output/image_list.h"
#include "output/layout.h"
#include "output/number.h"
#include "output/sizes.h"

namespace cuproof {
namespace {

constexpr size_t kRowsBySection = 40;  // past that, sections are counted instead of named
constexpr size_t kDamageShown = 5;

void AppendHeader(const FileReport& file, const Style& style, std::string& out) {
  const FileImages& images = file.images;
  std::string text = FileKindName(images.kind);
  if (!images.host.machine.empty()) text += " " + EscapeTerminal(images.host.machine);
  text += fmt::format(", {}, {} in {}", Count(images.size, "byte"),
                      Count(images.images.size(), "image"), Count(images.modules.size(), "module"));
  if (images.listing_stopped) text += " (more were not listed)";
  const Span label{EscapeTerminal(file.path) + "  ", Tone::kBold};
  AppendParagraph(style, {0, 2, label, {{text}}}, out);
}

std::string KindText(const Image& like) {
  std::string text = ImageKindName(like.kind);
  if (like.kind == ImageKind::kUnknown) text += fmt::format(" {}", like.raw_kind);
  if (like.relocatable) text += " -rdc";
  if (like.masked) text += " masked";
  return text;
}

// A group for each section, or for all sections together when that would be too long.
std::vector<ImageGroup> Groups(const FileImages& file, bool all) {
  std::vector<ImageGroup> groups = GroupImages(file, BySection::kYes);
  if (groups.size() <= kRowsBySection || all) return groups;
  return GroupImages(file, BySection::kNo);
}

std::string SectionText(const FileImages& file, const ImageGroup& group, size_t sections) {
  if (!group.section.empty()) return EscapeTerminal(group.section);
  if (sections <= 1) return "";
  return Count(sections, file.kind == FileKind::kArchive ? "member" : "section");
}

size_t CountSections(const FileImages& file) {
  std::set<std::string_view> names;
  for (const Module& module : file.modules) names.insert(module.section);
  return names.size();
}

void AppendGroups(const FileImages& file, const Style& style, std::string& out) {
  const std::vector<ImageGroup> groups = Groups(file, style.verbose);
  const bool named = std::any_of(groups.begin(), groups.end(),
                                 [](const ImageGroup& group) { return !group.section.empty(); });
  const size_t sections = named ? 0 : CountSections(file);
  TextTable table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight,
                   Align::kRight, Align::kRight, Align::kBroken});
  table.Row({{"kind", Tone::kDim},
             {"target", Tone::kDim},
             {"version", Tone::kDim},
             {"packed", Tone::kDim},
             {"images", Tone::kDim},
             {"stored", Tone::kDim},
             {"expanded", Tone::kDim},
             {file.kind == FileKind::kArchive ? "member" : "section", Tone::kDim}});
  ImageGroup total;
  for (const ImageGroup& group : groups) {
    const Image& like = group.like;
    table.Row({{KindText(like)},
               {ImageTarget(like), Tone::kBold},
               {ImageVersionText(like)},
               {like.compression == Compression::kNone ? "-" : CompressionName(like.compression)},
               {Thousands(group.count)},
               {Thousands(group.stored_bytes)},
               {Thousands(group.raw_bytes)},
               {SectionText(file, group, sections)}});
    if (group.damaged > 0) table.Note(1, {Count(group.damaged, "damaged image"), Tone::kBoldRed});
    total.count += group.count;
    total.stored_bytes = SaturatingAdd(total.stored_bytes, group.stored_bytes);
    total.raw_bytes = SaturatingAdd(total.raw_bytes, group.raw_bytes);
  }
  table.Row({{"total", Tone::kDim},
             {},
             {},
             {},
             {Thousands(total.count)},
             {Thousands(total.stored_bytes)},
             {Thousands(total.raw_bytes)},
             {}});
  table.Append(style, 2, out);
}

std::string ShareName(const FileImages& file, const SizeItem& item) {
  const bool archive = file.kind == FileKind::kArchive;
  switch (item.group) {
    case SizeGroup::kImages:
      return item.what;
    case SizeGroup::kContainers:
      return "container headers";
    case SizeGroup::kSection:
      return item.what.empty() ? "(no name)" : EscapeTerminal(item.what);
    case SizeGroup::kOtherSections:
      return Count(item.count, archive ? "other member" : "other section");
    case SizeGroup::kRest:
      break;
  }
  return archive || !file.host.ranges.empty() ? "headers and gaps" : "rest";
}

std::string PercentText(uint64_t part, uint64_t whole) {
  if (whole == 0) return "";
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

void AppendSizes(const FileImages& file, const Style& style, std::string& out) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight});
  table.Row({{"bytes of the file", Tone::kDim}, {}, {}});
  uint64_t total = 0;
  for (const SizeItem& item : SizeBreakdown(file)) {
    const bool image = item.group == SizeGroup::kImages;
    table.Row({{ShareName(file, item), image ? Tone::kBold : Tone::kPlain},
               {Thousands(item.bytes)},
               {PercentText(item.bytes, file.size), Tone::kDim}});
    total += item.bytes;
  }
  table.Row(
      {{"total", Tone::kDim}, {Thousands(total)}, {PercentText(total, file.size), Tone::kDim}});
  table.Append(style, 2, out);
}

void AppendDamage(const FileImages& file, const Style& style, std::string& out) {
  std::vector<Error> all = file.host.damage;
  all.insert(all.end(), file.damage.begin(), file.damage.end());
  for (const Image& image : file.images) {
    if (image.damage) all.push_back(*image.damage);
  }
  if (all.empty()) return;
  out += '\n';
  const size_t shown = style.verbose || all.size() <= kDamageShown + 1 ? all.size() : kDamageShown;
  for (size_t i = 0; i < shown; ++i) {
    const Span label{"damage: ", Tone::kBoldRed};
    AppendParagraph(style, {2, 4, label, {{EscapeTerminal(all[i].Text())}}}, out);
  }
  if (shown == all.size()) return;
  const std::string more =
      fmt::format("and {} more: --verbose shows all", Thousands(all.size() - shown));
  AppendParagraph(style, {2, 4, {}, {{more, Tone::kDim}}}, out);
}

void AppendFile(const FileReport& file, const InspectOptions& options, const Style& style,
                std::string& out) {
  AppendHeader(file, style, out);
  out += '\n';
  if (!file.images.images.empty()) {
    AppendGroups(file.images, style, out);
    out += '\n';
  }
  AppendSizes(file.images, style, out);
  AppendDamage(file.images, style, out);
  if (options.images && !file.images.images.empty()) {
    out += '\n';
    AppendImageList(file.images, style, out);
  }
}

}  // namespace

std::string InspectText(const std::vector<FileReport>& files, const InspectOptions& options,
                        const Style& style) {
  std::string out;
  for (const FileReport& file : files) {
    if (!out.empty()) out += '\n';
    AppendFile(file, options, style, out);
  }
  return out;
}

}  // namespace cuproof
