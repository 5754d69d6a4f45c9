#include "rule/rule.h"

namespace cuproof {

void RuleHostOnly(const FileContext& context, std::vector<Finding>& findings) {
  const FileImages& images = context.file.images;
  if (!images.images.empty() || !images.host.registers_fatbin) return;
  // An archive of the runtime or of a device library names the function that it defines.
  if (images.kind != FileKind::kElf) return;
  Finding finding = NewFinding(context, "CP112", Severity::kNote);
  finding.message = "host code of a CUDA program, with no device image in it";
  finding.evidence.emplace_back("it names __cudaRegisterFatBinary");
  finding.source = "the CUDA runtime's registration interface";
  finding.verified_on = "objects of nvcc 13.0";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
