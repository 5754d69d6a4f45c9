#include <fmt/format.h>

#include "rule/rule.h"
#include "target/libc_levels.h"

namespace cuproof {
namespace {

bool IsFloor(const HostVersion& version) {
  return version.version.starts_with("GLIBC_") || version.version.starts_with("GLIBCXX_") ||
         version.version.starts_with("CXXABI_");
}

}  // namespace

void RuleVersionFloor(const FileContext& context, std::vector<Finding>& findings) {
  const HostLoad& load = *context.file.host;
  for (const HostVersion& version : load.versions) {
    Finding finding = NewFinding(context, "CP302", LoadSeverity(load));
    finding.subject = version.version;
    finding.message =
        fmt::format("needs {} of {}, which {}", version.version, version.file,
                    version.newest.empty() ? "has no such version" : "ends at " + version.newest);
    finding.evidence.push_back("found: " + version.provider);
    if (version.wanted_by != context.file.path) {
      finding.evidence.push_back("wanted by " + version.wanted_by);
    }
    finding.evidence.push_back(fmt::format("at import: version `{}' not found", version.version));
    const std::string systems = SystemsWith(version.version);
    if (!systems.empty()) finding.evidence.push_back("has it: " + systems);
    if (const std::string compiler = CompilerWith(version.version); !compiler.empty()) {
      finding.evidence.push_back("has it: the libstdc++ of " + compiler);
    }
    if (!IsFloor(version)) {
      finding.fix = fmt::format("install a newer {}", version.file);
    } else if (version.version.starts_with("GLIBC_")) {
      finding.fix = "use a newer distribution, or a wheel with a lower manylinux tag";
    } else {
      finding.fix =
          "let the environment have a libstdc++ of a newer GCC, or build with the one it has";
    }
    finding.source = "ld.so(8): symbol versions";
    finding.verified_on = "glibc 2.36, tools/loader_oracle";
    findings.push_back(std::move(finding));
  }
}

}  // namespace cuproof
