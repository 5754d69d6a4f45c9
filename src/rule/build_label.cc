#include "torch/build_label.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "rule/rule.h"
#include "torch/history.h"

namespace cuproof {
namespace {

const char* const kSource = "the names that the file imports";

bool Known(const BuildLabel& label) {
  const auto releases = TorchHistory::Get().releases();
  return std::any_of(releases.begin(), releases.end(), [&](const TorchRelease& release) {
    return release.major == label.torch_major && release.minor == label.torch_minor;
  });
}

// 12 of libcudart.so.12: of the libraries that have the number of their toolkit.
uint8_t MajorOf(const std::string& library) {
  for (const std::string_view stem :
       {"libcudart.so.", "libcublas.so.", "libcublasLt.so.", "libnvJitLink.so."}) {
    uint8_t major = 0;
    if (!library.starts_with(stem)) continue;
    std::from_chars(library.data() + stem.size(), library.data() + library.size(), major);
    return major;
  }
  return 0;
}

Finding Contradiction(const FileContext& context, const BuildLabel& label, std::string message) {
  Finding finding = NewFinding(context, "CP205", Severity::kWarning);
  finding.subject = label.text;
  finding.message = std::move(message);
  finding.source = kSource;
  finding.verified_on = "tests/host_labels_test.py";
  return finding;
}

void CheckAbi(const FileContext& context, std::vector<Finding>& findings) {
  const HostFacts& facts = context.file.host->facts;
  const StringAbi wanted = facts.string_abi;
  if (facts.label.abi == StringAbi::kNone || wanted == facts.label.abi ||
      (wanted != StringAbi::kOld && wanted != StringAbi::kNew)) {
    return;
  }
  Finding finding = Contradiction(
      context, facts.label,
      fmt::format("the name says {} std::string ABI, and the file was built with the {} one",
                  StringAbiName(facts.label.abi), StringAbiName(wanted)));
  finding.evidence.push_back("it wants " + facts.string_abi_name);
  finding.fix = fmt::format("name it cxx11abi{}, or build it with _GLIBCXX_USE_CXX11_ABI={}",
                            wanted == StringAbi::kNew ? "TRUE" : "FALSE",
                            facts.label.abi == StringAbi::kNew ? 1 : 0);
  findings.push_back(std::move(finding));
}

void CheckCuda(const FileContext& context, std::vector<Finding>& findings) {
  const HostFacts& facts = context.file.host->facts;
  if (facts.label.cuda_major == 0) return;
  for (const std::string& library : facts.cuda_libraries) {
    const uint8_t major = MajorOf(library);
    if (major == 0 || major == facts.label.cuda_major) continue;
    Finding finding = Contradiction(context, facts.label,
                                    fmt::format("the name says CUDA {}, and the file needs {}",
                                                facts.label.cuda_major, library));
    finding.fix =
        fmt::format("build it with CUDA {}, or name it cu{}", facts.label.cuda_major, major);
    findings.push_back(std::move(finding));
    return;
  }
}

void CheckTorch(const FileContext& context, std::vector<Finding>& findings) {
  const HostFacts& facts = context.file.host->facts;
  // A file of the stable ABI fits every later torch, and may be named for one.
  if (facts.label.torch_major == 0 || !facts.wants_torch || !Known(facts.label)) return;
  const auto& fits = facts.torch_minors;
  if (std::find(fits.begin(), fits.end(), facts.label.Torch()) != fits.end()) return;
  Finding finding = Contradiction(
      context, facts.label,
      fmt::format("the name says torch {}, which does not have all that the file wants",
                  facts.label.Torch()));
  finding.evidence.push_back("what it wants of torch is in " + facts.torch_range);
  finding.evidence.insert(finding.evidence.end(), facts.bounds.begin(), facts.bounds.end());
  finding.fix =
      fmt::format("build it against torch {}, or name it for the torch that it was built for",
                  facts.label.Torch());
  findings.push_back(std::move(finding));
}

}  // namespace

void RuleBuildLabel(const FileContext& context, std::vector<Finding>& findings) {
  if (context.file.host->facts.label.empty()) return;
  CheckAbi(context, findings);
  CheckCuda(context, findings);
  CheckTorch(context, findings);
}

}  // namespace cuproof
