#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "rule/rule.h"
#include "target/facts.h"
#include "target/table.h"

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

// "9.0a" -> 90a.
Arch ArchOfCapability(std::string_view text) {
  Arch arch;
  if (!text.empty() && (text.back() == 'a' || text.back() == 'f')) {
    arch.suffix = text.back();
    text.remove_suffix(1);
  }
  const Version capability = ParseVersion(text);
  arch.number = capability.major * 10u + capability.minor;
  return arch;
}

bool HasImage(const FileImages& images, ImageKind kind, Arch arch) {
  return std::any_of(images.images.begin(), images.images.end(),
                     [&](const Image& image) { return image.kind == kind && image.arch == arch; });
}

void AddMismatch(const FileContext& context, std::string subject, std::string message,
                 std::vector<Finding>& findings) {
  Finding finding = NewFinding(context, "CP108", Severity::kWarning);
  finding.subject = std::move(subject);
  finding.message = std::move(message);
  finding.evidence.push_back("it holds " + TargetList(context.file.images));
  finding.fix =
      "check the architecture list of its build: a list that does not know a target drops it "
      "silently";
  finding.source = "report R07";
  finding.verified_on = "by document";
  findings.push_back(std::move(finding));
}

void CheckName(const FileContext& context, std::vector<Finding>& findings) {
  const FileImages& images = context.file.images;
  const std::string& path = context.file.path;
  const size_t slash = path.find_last_of("/!");
  const std::string_view name =
      std::string_view(path).substr(slash == std::string::npos ? 0 : slash + 1);
  for (const Arch label : ArchsIn(name)) {
    const bool served = std::any_of(images.images.begin(), images.images.end(),
                                    [&](const Image& image) { return Serves(image, label); });
    const std::string target = "sm_" + ArchText(label);
    if (served) continue;
    AddMismatch(context, target,
                fmt::format("its name says {}, but nothing in it is for that target", target),
                findings);
  }
}

void CheckMetadata(const FileContext& context, std::vector<Finding>& findings) {
  constexpr std::string_view kPtx = "+PTX";
  std::vector<std::string> missing;
  for (const std::string& declared : context.file.declared_archs) {
    std::string_view text = declared;
    const bool ptx = text.size() > kPtx.size() && text.substr(text.size() - kPtx.size()) == kPtx;
    if (ptx) text.remove_suffix(kPtx.size());
    const Arch arch = ArchOfCapability(text);
    if (arch.number == 0) continue;
    if (!HasImage(context.file.images, ImageKind::kCubin, arch))
      missing.push_back("sm_" + ArchText(arch));
    if (ptx && !HasImage(context.file.images, ImageKind::kPtx, arch)) {
      missing.push_back("compute_" + ArchText(arch));
    }
  }
  if (missing.empty()) return;
  const std::string list = fmt::format("{}", fmt::join(missing, " "));
  AddMismatch(context, list,
              fmt::format("the metadata.json beside it declares {}, which it does not hold", list),
              findings);
}

}  // namespace

void RuleDeclaredArch(const FileContext& context, std::vector<Finding>& findings) {
  if (context.file.images.images.empty()) return;
  CheckName(context, findings);
  CheckMetadata(context, findings);
}

}  // namespace cuproof
