#include <fmt/format.h>

#include "rule/rule.h"
#include "target/table.h"

namespace cuproof {
namespace {

// The toolkit that made the file's cubins: that of its host code, too. Several: it cannot be told.
uint16_t ToolkitMajor(const FileImages& images) {
  uint16_t major = 0;
  for (const Image& image : images.images) {
    if (!image.toolkit.known()) continue;
    if (major != 0 && image.toolkit.major != major) return 0;
    major = image.toolkit.major;
  }
  return major;
}

}  // namespace

// With a version the loader refuses the other major. Without one, the name is all that it compares.
void RuleEntryPoint(const FileContext& context, std::vector<Finding>& findings) {
  const uint16_t built = ToolkitMajor(context.file.images);
  if (built == 0) return;
  const Table& table = Table::Get("cuda_changes");
  for (const HostEntryPoint& point : context.file.host->entry_points) {
    for (size_t i = 0; i < table.size(); ++i) {
      if (table.At(i, "name") != point.name) continue;
      const uint16_t border = ParseVersion(table.At(i, "cuda")).major;
      if ((built < border) == (point.major < border)) continue;
      Finding finding = NewFinding(context, "CP208", Severity::kWarning);
      finding.subject = point.name;
      finding.message = fmt::format("calls {} as CUDA {} has it, and would get that of CUDA {}",
                                    point.name, built, point.major);
      finding.evidence.push_back(fmt::format("from CUDA {} on: {}", border, table.At(i, "what")));
      finding.evidence.push_back("taken: " + point.provider);
      finding.evidence.emplace_back(
          "it was linked without libcudart, so that no symbol version keeps the two apart");
      finding.fix = fmt::format("build it with CUDA {}, and link it with libcudart", point.major);
      finding.source = "data/cuda_changes.tsv";
      finding.verified_on = "libcudart 13.0";
      findings.push_back(std::move(finding));
    }
  }
}

}  // namespace cuproof
