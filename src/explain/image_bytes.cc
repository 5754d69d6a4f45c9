// Where the bytes of an image are: copied into the run folder, or still in the file that they were
// mapped from.
#include <fmt/format.h>

#include "explain/context.h"

namespace cuproof::explain {

std::string ImageName(const trace::ImageLoad& image) {
  std::string text = fmt::format("image {}", image.id);
  std::string parts = image.kind;
  const auto add = [&](const std::string& part) {
    if (!parts.empty()) parts += ", ";
    parts += part;
  };
  if (image.size) add(fmt::format("{} bytes", image.size));
  if (!image.dumped.empty()) {
    add("images/" + image.dumped);
  } else if (!image.file.empty()) {
    add(image.offset ? fmt::format("at byte {:#x} of {}", image.offset, image.file) : image.file);
  }
  return parts.empty() ? text : fmt::format("{} ({})", text, parts);
}

ImageBytes OpenImage(const trace::Run& run, const trace::ImageLoad& image) {
  ImageBytes opened;
  // The name is input: only one in images/ itself is opened.
  if (!image.dumped.empty() && image.dumped.find('/') == std::string::npos &&
      image.dumped[0] != '.') {
    auto file = MappedFile::Open(fmt::format("{}/images/{}", run.folder, image.dumped));
    if (file) {
      opened.bytes = file->bytes();
      opened.file.emplace(std::move(*file));
      return opened;
    }
  }
  if (!image.file.empty()) {
    auto file = MappedFile::Open(image.file);
    if (!file) {
      opened.why_not = fmt::format("{} cannot be read any more", image.file);
      return opened;
    }
    opened.bytes = file->bytes().Clamp(image.offset, image.size ? image.size : UINT64_MAX);
    opened.file.emplace(std::move(*file));
    if (!opened.bytes.empty()) return opened;
    opened.why_not = fmt::format("{} is shorter than it was", image.file);
    return opened;
  }
  const std::string advice = RecordAgain(run);
  opened.why_not = run.dump_images ? "there is no copy of it, although images were to be copied"
                                   : "no copy of it was kept; " + advice;
  return opened;
}

}  // namespace cuproof::explain
