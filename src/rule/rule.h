#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "rule/report.h"
#include "rule/siblings.h"

namespace cuproof {

/// What a rule sees: one file of one root, and what it is to run on.
struct FileContext {
  const FileReport& file;
  const Report& report;  // the other files, for rules that look at siblings
  const Target& target;
  const Siblings* siblings = nullptr;  // of `report`, where somebody has made them
};

// One rule a file. Each appends what it finds; none changes what another sees.
void RuleNoImage(const FileContext& context, std::vector<Finding>& findings);         // CP101
void RulePtxDriver(const FileContext& context, std::vector<Finding>& findings);       // CP102
void RuleJit(const FileContext& context, std::vector<Finding>& findings);             // CP103
void RuleRuntimeDriver(const FileContext& context, std::vector<Finding>& findings);   // CP104
void RuleZstdDriver(const FileContext& context, std::vector<Finding>& findings);      // CP105
void RulePartial(const FileContext& context, std::vector<Finding>& findings);         // CP106
void RuleDamage(const FileContext& context, std::vector<Finding>& findings);          // CP107
void RuleDeclaredArch(const FileContext& context, std::vector<Finding>& findings);    // CP108
void RuleUnusedBytes(const FileContext& context, std::vector<Finding>& findings);     // CP109
void RuleUnknown(const FileContext& context, std::vector<Finding>& findings);         // CP110
void RuleLtoOnly(const FileContext& context, std::vector<Finding>& findings);         // CP111
void RuleHostOnly(const FileContext& context, std::vector<Finding>& findings);        // CP112
void RulePtxInvalid(const FileContext& context, std::vector<Finding>& findings);      // CP113
void RuleGpuDropped(const FileContext& context, std::vector<Finding>& findings);      // CP114
void RuleTegraInDesktop(const FileContext& context, std::vector<Finding>& findings);  // CP115

// Of the host half: what the loader would say. They look at FileReport::host alone, and where it
// helps at the images.
void RuleUndefinedSymbol(const FileContext& context, std::vector<Finding>& findings);  // CP201
void RuleSymbolVersion(const FileContext& context, std::vector<Finding>& findings);    // CP202
void RuleKernelStub(const FileContext& context, std::vector<Finding>& findings);       // CP203
void RuleOperatorClaim(const FileContext& context, std::vector<Finding>& findings);    // CP204
void RuleBuildLabel(const FileContext& context, std::vector<Finding>& findings);       // CP205
void RuleStableAbi(const FileContext& context, std::vector<Finding>& findings);        // CP206
void RuleTorchLayout(const FileContext& context, std::vector<Finding>& findings);      // CP207
void RuleEntryPoint(const FileContext& context, std::vector<Finding>& findings);       // CP208
void RuleTorchRange(const FileContext& context, std::vector<Finding>& findings);       // CP209
void RuleMissingLibrary(const FileContext& context, std::vector<Finding>& findings);   // CP301
void RuleVersionFloor(const FileContext& context, std::vector<Finding>& findings);     // CP302
void RuleLibraryCopies(const FileContext& context, std::vector<Finding>& findings);    // CP303
void RuleStubFolder(const FileContext& context, std::vector<Finding>& findings);       // CP305
void RuleOpenedByName(const FileContext& context, std::vector<Finding>& findings);     // CP306
void RuleNotLoadable(const FileContext& context, std::vector<Finding>& findings);      // CP307
void RuleNoInterpreter(const FileContext& context, std::vector<Finding>& findings);    // CP311
void RuleUnusedLibrary(const FileContext& context, std::vector<Finding>& findings);    // CP312
void RuleSearchFolder(const FileContext& context, std::vector<Finding>& findings);     // CP313

/// Every rule above, in the order of the ids.
void RunRules(const FileContext& context, std::vector<Finding>& findings);

/// True when a file runs and so few of its modules do not that it looks like an accident. In the
/// libraries of NVIDIA each module serves one architecture, and half of them never run on a given
/// GPU; a few out of many is how a kernel family that was built for the wrong targets looks
/// (reports R03, R25).
bool FewFail(const FileImages& images, const FileVerdict& verdict);

// Helpers that several rules share.

/// Indices into target.gpus whose verdict has this outcome and reason.
std::vector<size_t> GpusWith(const FileContext& context, Outcome outcome, Reason reason);

/// "sm_75, sm_80 and sm_86", by product where one was named: "sm_103 (B300)".
std::string GpuList(const FileContext& context, const std::vector<size_t>& gpus);

/// The rules of the host half alone.
void RunHostRules(const FileContext& context, std::vector<Finding>& findings);

/// Error for a Python module, which somebody imports; a warning for another library, which perhaps
/// nobody loads; a note for one of a set of which another loads.
Severity LoadSeverity(const HostLoad& load);

/// Whether a library belongs to the driver, which no package brings: libcuda.so.1.
bool IsDriverLibrary(std::string_view name);

/// Whether a library is one of CUDA's, which must be of one release in a process.
bool IsCudaLibrary(std::string_view name);

/// Whether LD_LIBRARY_PATH put this copy of one of CUDA's libraries first: CP303.
bool IsReplacedCopy(const HostCopy& copy, std::string_view name);

/// A finding about this file.
Finding NewFinding(const FileContext& context, std::string id, Severity severity);

/// "compute_90 (PTX ISA 9.1) at byte 0x1234 of .nv_fatbin".
std::string ImageEvidence(const FileImages& images, size_t index);

/// The distinct targets of the images: "sm_80 sm_90a compute_90".
std::string TargetList(const FileImages& images);

/// Variants differ by numbers in their name (libbitsandbytes_cuda118.so), or hold nothing but
/// images for one chip or family (a Hopper-only file). Required, when no sibling covers the GPU.
Role RoleFor(const FileContext& context, size_t gpu);

/// The severity of "does not run on these GPUs": a note when no GPU was named or is present, or
/// when each of them is served by a variant; a warning when the file is optional there; else an
/// error.
Severity FailureSeverity(const FileContext& context, const std::vector<size_t>& gpus);

}  // namespace cuproof
