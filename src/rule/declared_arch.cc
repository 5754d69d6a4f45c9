#include <fmt/format.h>

#include <cctype>

#include "rule/rule.h"
#include "target/facts.h"

namespace cuproof {
namespace {

// "sm90", "sm_100a" in a file's own name, as a word: not "sm2" of a longer word, and only numbers
// that are an architecture.
std::vector<Arch> ArchsIn(std::string_view name) {
  std::vector<Arch> archs;
  for (size_t at = name.find("sm"); at != std::string_view::npos; at = name.find("sm", at + 2)) {
    if (at > 0 && std::isalnum(static_cast<unsigned char>(name[at - 1]))) continue;
    size_t digits = at + 2;
    if (digits < name.size() && name[digits] == '_') ++digits;
    Arch arch;
    size_t end = digits;
    while (end < name.size() && end - digits < 3 &&
           std::isdigit(static_cast<unsigned char>(name[end]))) {
      arch.number = arch.number * 10 + static_cast<uint32_t>(name[end] - '0');
      ++end;
    }
    if (end < name.size() && (name[end] == 'a' || name[end] == 'f')) arch.suffix = name[end++];
    const bool whole_word =
        end == name.size() || !std::isalnum(static_cast<unsigned char>(name[end]));
    if (whole_word && FindArch(CurrentSm(arch.number))) archs.push_back(arch);
  }
  return archs;
}

// An image serves the label when it has that number; PTX of a lower number is compiled for it.
bool Serves(const Image& image, Arch label) {
  if (CurrentSm(image.arch.number) == CurrentSm(label.number)) return true;
  return image.kind == ImageKind::kPtx && !image.arch.suffix && image.arch.number < label.number;
}

}  // namespace

void RuleDeclaredArch(const FileContext& context, std::vector<Finding>& findings) {
  const FileImages& images = context.file.images;
  if (images.images.empty()) return;
  const std::string& path = context.file.path;
  const size_t slash = path.find_last_of("/!");
  const std::string_view name =
      std::string_view(path).substr(slash == std::string::npos ? 0 : slash + 1);
  for (const Arch label : ArchsIn(name)) {
    bool served = false;
    for (const Image& image : images.images) served |= Serves(image, label);
    if (served) continue;
    Finding finding = NewFinding(context, "CP108", Severity::kWarning);
    finding.subject = "sm_" + ArchText(label);
    finding.message =
        fmt::format("its name says sm_{}, but nothing in it is for that target", ArchText(label));
    finding.evidence.push_back("it holds " + TargetList(images));
    finding.fix = fmt::format(
        "check the architecture list of its build: a list that does not know {} drops it silently",
        ArchText(label));
    finding.source = "report R07";
    finding.verified_on = "by document";
    findings.push_back(std::move(finding));
  }
}

}  // namespace cuproof
