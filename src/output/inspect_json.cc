#include "output/inspect_json.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "output/image_groups.h"
#include "output/json.h"
#include "output/sizes.h"

namespace cuproof {
namespace {

constexpr const char* kSchema = "cuproof.inspect/1";

const char* ModuleKindId(ModuleKind kind) {
  switch (kind) {
    case ModuleKind::kContainer:
      return "container";
    case ModuleKind::kCubin:
      return "cubin";
    case ModuleKind::kPtx:
      return "ptx";
    case ModuleKind::kZstdFrame:
      break;
  }
  return "zstd-frame";
}

// Written by hand: a JSON value for each of 24,000 images would take most of the run.
void AppendModule(const Module& module, fmt::memory_buffer& out) {
  fmt::format_to(std::back_inserter(out),
                 R"({{"kind":"{}","offset":{},"size":{},"section":{},"images":{}}})",
                 ModuleKindId(module.kind), module.offset, module.size, JsonText(module.section),
                 module.image_count);
}

std::string VersionOrNull(Version version) {
  return version.known() ? JsonText(VersionText(version)) : "null";
}

const char* BoolOrNull(std::optional<bool> value) {
  return !value ? "null" : *value ? "true" : "false";
}

void AppendImage(const FileImages& file, const Image& image, fmt::memory_buffer& out) {
  const auto to = std::back_inserter(out);
  fmt::format_to(to, R"({{"kind":"{}","raw_kind":{},"arch":"{}","version":{},"toolkit":{})",
                 ImageKindName(image.kind), image.raw_kind, ImageTarget(image),
                 VersionOrNull(image.version), VersionOrNull(image.toolkit));
  fmt::format_to(to, R"(,"compression":"{}","masked":{},"relocatable":{},"flags":{})",
                 CompressionName(image.compression), image.masked, image.relocatable, image.flags);
  fmt::format_to(to, R"(,"offset":{},"stored_size":{},"raw_size":{},"module":{},"section":{})",
                 image.offset, image.stored_size, image.raw_size, image.module,
                 JsonText(ImageSection(file, image)));
  fmt::format_to(to, R"(,"has_code":{})", BoolOrNull(image.has_code));
  fmt::format_to(to, R"(,"identifier":{},"options":{},"damage":{}}})", JsonText(image.identifier),
                 JsonText(image.options),
                 image.damage ? JsonText(image.damage->phrase) : std::string("null"));
}

std::string WhatText(const SizeItem& item) {
  switch (item.group) {
    case SizeGroup::kImages:
      return "images " + item.what;
    case SizeGroup::kSection:
      return "section " + item.what;
    case SizeGroup::kOtherSections:
      return "other sections";
    case SizeGroup::kContainers:
    case SizeGroup::kRest:
      break;
  }
  return item.what;
}

void AppendSize(const SizeItem& item, fmt::memory_buffer& out) {
  fmt::format_to(std::back_inserter(out), R"({{"what":{},"group":"{}","bytes":{}}})",
                 JsonText(WhatText(item)), SizeGroupId(item.group), item.bytes);
}

void AppendError(const Error& error, fmt::memory_buffer& out) {
  const std::string text = DumpJson(ErrorJson(error), -1);
  out.append(text.data(), text.data() + text.size());
}

void AppendText(std::string_view text, fmt::memory_buffer& out) {
  out.append(text.data(), text.data() + text.size());
}

// "name": [ one line for each item ]
template <typename Items, typename Append>
void AppendArray(std::string_view name, const Items& items, const Append& append, size_t indent,
                 fmt::memory_buffer& out) {
  const std::string margin(indent, ' ');
  fmt::format_to(std::back_inserter(out), "{}\"{}\": [", margin, name);
  bool first = true;
  for (const auto& item : items) {
    fmt::format_to(std::back_inserter(out), "{}\n  {}", first ? "" : ",", margin);
    append(item, out);
    first = false;
  }
  if (!first) AppendText("\n" + margin, out);
  AppendText("]", out);
}

std::vector<Error> DamageOf(const FileImages& file) {
  std::vector<Error> all = file.host.damage;
  all.insert(all.end(), file.damage.begin(), file.damage.end());
  return all;
}

void AppendFile(const FileReport& file, fmt::memory_buffer& out) {
  constexpr size_t kIndent = 6;
  const FileImages& images = file.images;
  const std::string& machine = images.host.machine;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "    {{\n      \"path\": {},\n      \"kind\": {},\n", JsonText(file.path),
                 JsonText(FileKindName(images.kind)));
  fmt::format_to(to, "      \"machine\": {},\n      \"size\": {},\n",
                 machine.empty() ? std::string("null") : JsonText(machine), images.size);
  AppendArray("modules", images.modules, AppendModule, kIndent, out);
  AppendText(",\n", out);
  const auto image_of = [&](const Image& image, auto& buffer) {
    AppendImage(images, image, buffer);
  };
  AppendArray("images", images.images, image_of, kIndent, out);
  AppendText(",\n", out);
  AppendArray("sizes", SizeBreakdown(images), AppendSize, kIndent, out);
  AppendText(",\n", out);
  AppendArray("damage", DamageOf(images), AppendError, kIndent, out);
  fmt::format_to(to, ",\n      \"listing_stopped\": {}\n    }}", images.listing_stopped);
}

}  // namespace

std::string InspectJson(const std::vector<FileReport>& files, const std::vector<Error>& problems,
                        const RunInfo& run) {
  fmt::memory_buffer out;
  fmt::format_to(std::back_inserter(out),
                 "{{\n  \"schema\": {},\n  \"version\": {},\n  \"files\": [", JsonText(kSchema),
                 JsonText(run.version));
  bool first = true;
  for (const FileReport& file : files) {
    AppendText(first ? "\n" : ",\n", out);
    AppendFile(file, out);
    first = false;
  }
  AppendText(first ? "],\n" : "\n  ],\n", out);
  AppendArray("problems", problems, AppendError, 2, out);
  AppendText("\n}\n", out);
  return fmt::to_string(out);
}

}  // namespace cuproof
