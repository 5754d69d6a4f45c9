#include "rule/siblings.h"

#include <cctype>
#include <string_view>

namespace cuproof {
namespace {

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.find_last_of("/!");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string FolderOf(std::string_view path) {
  return std::string(path.substr(0, path.size() - BaseName(path).size()));
}

// Variants of one file differ in numbers only: libbitsandbytes_cuda118.so and _cuda130.so,
// flash_sm80.so and flash_sm90a.so.
std::string WithoutNumbers(std::string_view name) {
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    if (!std::isdigit(static_cast<unsigned char>(name[i]))) {
      text += name[i];
      continue;
    }
    while (i + 1 < name.size() && std::isdigit(static_cast<unsigned char>(name[i + 1]))) ++i;
    const char next = i + 1 < name.size() ? name[i + 1] : '\0';
    const char after = i + 2 < name.size() ? name[i + 2] : '\0';
    if ((next == 'a' || next == 'f') && !std::isalnum(static_cast<unsigned char>(after))) ++i;
    text += '#';
  }
  return text;
}

bool ForOneChipOnly(const FileImages& images) {
  bool any = false;
  for (const Image& image : images.images) {
    if (image.kind != ImageKind::kCubin && image.kind != ImageKind::kPtx) continue;
    if (!image.arch.suffix) return false;
    any = true;
  }
  return any;
}

}  // namespace

Siblings::Siblings(const Report& report) : report_(report) {
  for (const FileReport& file : report.files) {
    const std::string variant = WithoutNumbers(BaseName(file.path));
    const std::string folder = FolderOf(file.path);
    for (size_t gpu = 0; gpu < file.verdicts.size(); ++gpu) {
      const Outcome outcome = file.verdicts[gpu].outcome;
      if (outcome != Outcome::kRunsSass && outcome != Outcome::kRunsJit) continue;
      Running& running = running_[{file.root, gpu}];
      running.variants.insert(variant);
      running.folders.insert(folder);
    }
  }
}

Role Siblings::RoleOf(const FileReport& file, size_t gpu) const {
  const auto found = running_.find({file.root, gpu});
  if (found == running_.end()) return Role::kRequired;
  const Running& running = found->second;
  const std::string name(BaseName(file.path));
  if (ForOneChipOnly(file.images) || running.variants.count(WithoutNumbers(name)) > 0) {
    return Role::kVariant;
  }
  // An extension module is imported by name, not linked to; a library that is not linked to is
  // opened when a feature asks for it.
  const auto& needed = report_.needed;
  const bool linked = file.root < needed.size() && needed[file.root].count(name) > 0;
  const bool library = name.compare(0, 3, "lib") == 0 && !linked;
  const bool optional = library && running.folders.count(FolderOf(file.path)) > 0;
  return optional ? Role::kOptional : Role::kRequired;
}

}  // namespace cuproof
