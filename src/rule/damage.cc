#include <fmt/format.h>

#include "rule/rule.h"

namespace cuproof {
namespace {

constexpr size_t kShown = 5;

Finding DamageFinding(const FileContext& context, std::string subject, const Error& error) {
  Finding finding = NewFinding(context, "CP107", Severity::kError);
  finding.subject = std::move(subject);
  finding.message = fmt::format("damaged {}: {}", finding.subject, error.phrase);
  if (error.offset) finding.evidence.push_back(fmt::format("at byte {:#x}", *error.offset));
  finding.fix = "get the file again, or rebuild it; compare its size and hash with the original";
  finding.source = "the file's own headers";
  finding.verified_on =
      "H200 r580.159: damaged images are refused; other GPUs and drivers by document";
  return finding;
}

}  // namespace

void RuleDamage(const FileContext& context, std::vector<Finding>& findings) {
  const FileImages& images = context.file.images;
  size_t count = 0;
  const auto add = [&](std::string subject, const Error& error) {
    if (++count <= kShown) findings.push_back(DamageFinding(context, std::move(subject), error));
  };
  for (const Error& error : images.host.damage) add(FileKindName(images.kind), error);
  for (const Error& error : images.damage) add("container", error);
  for (const Image& image : images.images) {
    if (image.damage) add("image " + ImageTarget(image), *image.damage);
  }
  if (count > kShown) {
    Finding finding = NewFinding(context, "CP107", Severity::kError);
    finding.message = fmt::format("{} more damaged places in this file", count - kShown);
    findings.push_back(std::move(finding));
  }
  if (images.listing_stopped) {
    Finding finding = NewFinding(context, "CP107", Severity::kWarning);
    finding.message = fmt::format(
        "more than {} containers or too many endless frames: the rest was not listed", kMaxModules);
    finding.fix = "the largest real library has 23,984 containers; is this file what it should be?";
    findings.push_back(std::move(finding));
  }
}

}  // namespace cuproof
