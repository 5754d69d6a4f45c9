#include "output/image_list.h"

#include <fmt/format.h>

#include <iterator>

#include "output/escape.h"
#include "output/image_groups.h"

namespace cuproof {
namespace {

constexpr const char* kHeader = "  {:>12} {:<7} {:<12} {:<9} {:<9} {:<9} {:>13} {:>13}  {}\n";
constexpr const char* kRow = "  {:>#12x} {:<7} {:<12} {:<9} {:<9} {:<9} {:>13} {:>13}  {}";

// "ABI 8", "ISA 9.1", "NVVM 2.0".
std::string FormatVersion(const Image& image) {
  if (image.kind == ImageKind::kCubin) {
    return image.version.known() ? fmt::format("ABI {}", image.version.minor) : "-";
  }
  const std::string text = ImageVersionText(image);
  return text.empty() ? "-" : text;
}

void AppendExtras(const Image& image, const Style& style, fmt::memory_buffer& out) {
  const auto to = std::back_inserter(out);
  if (image.relocatable) fmt::format_to(to, " -rdc");
  if (image.masked) fmt::format_to(to, " masked");
  if (image.has_code == false) fmt::format_to(to, " no-kernels");
  if (image.kind == ImageKind::kUnknown) fmt::format_to(to, " kind={}", image.raw_kind);
  if (!image.identifier.empty()) fmt::format_to(to, " name={}", EscapeTerminal(image.identifier));
  if (!image.options.empty()) {
    fmt::format_to(to, " options=\"{}\"", EscapeTerminal(image.options));
  }
  if (image.damage) {
    const std::string text = "damaged: " + EscapeTerminal(image.damage->phrase);
    fmt::format_to(to, " {}", Paint(style, Tone::kBoldRed, text));
  }
}

}  // namespace

void AppendImageList(const FileImages& file, const Style& style, std::string& out) {
  fmt::memory_buffer lines;
  const std::string header = fmt::format(kHeader, "offset", "kind", "target", "version", "toolkit",
                                         "packed", "stored", "expanded", "section");
  out += Paint(style, Tone::kDim, std::string_view(header).substr(0, header.size() - 1)) + "\n";
  for (const Image& image : file.images) {
    const std::string toolkit = image.toolkit.known() ? VersionText(image.toolkit) : "-";
    const bool plain = image.compression == Compression::kNone;
    const std::string& section = ImageSection(file, image);
    fmt::format_to(std::back_inserter(lines), kRow, image.offset, ImageKindName(image.kind),
                   ImageTarget(image), FormatVersion(image), toolkit,
                   plain ? "-" : CompressionName(image.compression), image.stored_size,
                   image.raw_size, section.empty() ? "-" : EscapeTerminal(section));
    AppendExtras(image, style, lines);
    lines.push_back('\n');
  }
  out.append(lines.data(), lines.size());
}

}  // namespace cuproof
