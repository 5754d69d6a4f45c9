#include <fmt/format.h>

#include <algorithm>

#include "rule/rule.h"

namespace cuproof {
namespace {

// libtorch.so, libtorch_cpu.so, libc10_cuda.so; not libtorchaudio.so, which torchaudio has.
bool IsTorchLibrary(const std::string& name) {
  return name.starts_with("libtorch.so") || name.starts_with("libtorch_") ||
         name.starts_with("libc10");
}

// A module is imported by somebody, though one that needs a library of others may be there for
// those who have it (cupy's for cuTENSOR, torchcodec's for FFmpeg). Another library may be a
// plugin, which is loaded only where what it needs is there; without CUDA or torch it is of no use
// anywhere.
Severity SeverityOf(const HostLoad& load, const HostLibrary& library) {
  // What was imported before may have it.
  if (!library.elsewhere.empty() || load.variant) return Severity::kNote;
  const bool known = IsCudaLibrary(library.name) || IsTorchLibrary(library.name);
  if (load.module) return known ? Severity::kError : Severity::kWarning;
  return known ? Severity::kWarning : Severity::kNote;
}

std::string Fix(const HostLibrary& library) {
  if (!library.origin.empty()) {
    return fmt::format(
        "import the package that has it first, or give the file an RPATH from $ORIGIN: "
        "-Wl,-rpath,'{}'",
        library.origin);
  }
  if (!library.elsewhere.empty()) {
    return fmt::format(
        "import the package that has it first, or give the file an RPATH from $ORIGIN to {}",
        library.elsewhere);
  }
  if (!library.others.empty()) {
    return fmt::format("install the build for {}, or the package that has {}",
                       library.others.back(), library.name);
  }
  if (IsTorchLibrary(library.name)) return "install the torch that it was built for";
  return fmt::format("install the package that has {}", library.name);
}

}  // namespace

void RuleMissingLibrary(const FileContext& context, std::vector<Finding>& findings) {
  const HostLoad& load = *context.file.host;
  for (const HostLibrary& library : load.libraries) {
    // A machine without a GPU has no driver; a wheel that needs one is in order.
    if (IsDriverLibrary(library.name)) continue;
    Finding finding = NewFinding(context, "CP301", SeverityOf(load, library));
    finding.subject = library.name;
    finding.message =
        library.elsewhere.empty()
            ? fmt::format("needs {}, which is not in this environment", library.name)
            : fmt::format("needs {}, which the loader does not find by itself", library.name);
    if (!library.elsewhere.empty()) finding.evidence.push_back("there is " + library.elsewhere);
    if (!library.chain.empty()) finding.evidence.push_back("through " + library.chain);
    for (const std::string& other : library.others) {
      finding.evidence.push_back("there is " + other);
    }
    for (const std::string& unfit : library.unfit) {
      finding.evidence.push_back("for another machine: " + unfit);
    }
    finding.evidence.push_back(fmt::format(
        "at import: {}: cannot open shared object file: No such file or directory", library.name));
    finding.fix = Fix(library);
    finding.source = "ld.so(8): search order";
    finding.verified_on = "glibc 2.36, tools/loader_oracle";
    findings.push_back(std::move(finding));
  }
}

}  // namespace cuproof
