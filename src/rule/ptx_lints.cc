#include "rule/ptx_lints.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <tuple>

#include "bytes/expand.h"
#include "bytes/parallel.h"
#include "image/expand_image.h"
#include "image/file_images.h"
#include "resource/lint_ptx.h"
#include "symbol/demangle.h"

namespace cuproof {
namespace {

struct Words {
  const char* id;
  const char* message;  // with the function's name
  const char* evidence;
  const char* fix;
  const char* source;
};

const Words& WordsOf(PtxLintKind kind) {
  static constexpr Words kWords[] = {
      {"CP411", "{} computes in double between floats", "fused multiply-adds in f64: {}",
       "write 1.0f for 1.0, and call the function for float", "PTX ISA manual: cvt, fma"},
      {"CP412", "{} shuffles with a mask that names lanes which do not come there",
       "such shuffles: {}", "shuffle before the branch, or name the lanes that come",
       "PTX ISA manual: shfl.sync"},
      {"CP413", "{} has a vector access that is not aligned", "such accesses: {}",
       "move the start of the vector to a multiple of its size", "PTX ISA manual: ld, st"},
      {"CP414", "{} keeps an array in local memory: it is indexed at run time",
       "accesses at a place that is not known: {}",
       "unroll the loop over it (#pragma unroll), or keep it in shared memory",
       "CUDA programming guide: local memory"},
  };
  return kWords[static_cast<size_t>(kind)];
}

Finding FindingOf(const PtxLint& lint, const Image& image, const std::string& file) {
  const Words& words = WordsOf(lint.kind);
  Finding finding;
  finding.id = words.id;
  finding.severity =
      lint.kind == PtxLintKind::kMisalignedVector ? Severity::kWarning : Severity::kNote;
  finding.file = file;
  finding.subject = lint.function;
  finding.message = fmt::format(fmt::runtime(words.message), DemangledOrSame(lint.function));
  finding.evidence.push_back(fmt::format("{}; byte {} of the PTX for {}", lint.statement,
                                         lint.offset, ImageTarget(image)));
  finding.evidence.push_back(lint.detail);
  finding.evidence.push_back(fmt::format(fmt::runtime(words.evidence), lint.count));
  if (lint.kind == PtxLintKind::kMisalignedVector)
    finding.evidence.emplace_back("at run time: error 716 (misaligned address)");
  finding.fix = words.fix;
  finding.source = words.source;
  finding.verified_on = "PTX of nvcc 13.0";
  return finding;
}

class Linter {
 public:
  Linter(const Unit& unit, ByteView bytes) : unit_(unit), bytes_(bytes) {}

  void Run(std::vector<Finding>& findings, std::vector<Error>& problems) {
    FileImages file = ListImages(bytes_);
    ExpansionBudget budget(bytes_.size());
    for (Image& image : file.images) {
      if (image.kind != ImageKind::kPtx || !Expandable(image) || !budget.Take(image)) continue;
      Read(image, findings);
      if (!image.damage) continue;
      problems.push_back(*image.damage);
      problems.back().file = unit_.shown;
    }
  }

 private:
  void Read(Image& image, std::vector<Finding>& findings) {
    ByteView text = bytes_.Clamp(image.payload, image.stored_size);
    Buffer buffer;
    if (image.compression != Compression::kNone) {
      auto expanded = Expand(image.compression, text, image.raw_size);
      if (!expanded) {
        SetDamage(expanded.error(), image);
        return;
      }
      buffer = std::move(*expanded);
      text = buffer.view();
    }
    const auto* data = reinterpret_cast<const char*>(text.data());
    for (const PtxLint& lint : LintPtx({data, text.size()})) {
      if (seen_.insert({static_cast<int>(lint.kind), lint.function}).second)
        findings.push_back(FindingOf(lint, image, unit_.shown));
    }
  }

  const Unit& unit_;
  ByteView bytes_;
  std::set<std::pair<int, std::string>> seen_;
};

}  // namespace

std::vector<Finding> PtxLints(const Inventory& inventory, unsigned threads,
                              std::vector<Error>& problems) {
  std::vector<Finding> findings;
  std::mutex mutex;
  ParallelFor(inventory.units.size(), threads, [&](size_t i) {
    const Unit& unit = inventory.units[i];
    const auto opened = OpenUnit(unit);
    if (!opened) return;  // the survey of the kernels tells it
    std::vector<Finding> found;
    std::vector<Error> damaged;
    Linter(unit, (*opened)->bytes()).Run(found, damaged);
    const std::lock_guard lock(mutex);
    std::move(found.begin(), found.end(), std::back_inserter(findings));
    std::move(damaged.begin(), damaged.end(), std::back_inserter(problems));
  });
  std::sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(b.severity, a.file, a.id, a.subject) <
           std::tie(a.severity, b.file, b.id, b.subject);
  });
  return findings;
}

void DropArraysInRegisters(const Survey& survey, std::vector<Finding>& findings) {
  std::map<std::pair<std::string, std::string>, bool> in_registers;
  for (const FileKernels& file : survey.files) {
    for (const KernelRow& row : file.kernels) {
      const bool none = !row.resources.recursion && !row.resources.indirect_calls &&
                        StackBytes(row.resources) == 0;
      const auto [found, added] = in_registers.try_emplace({file.path, *row.name}, none);
      if (!added) found->second &= none;
    }
  }
  std::erase_if(findings, [&](const Finding& finding) {
    if (finding.id != "CP414") return false;
    const auto found = in_registers.find({finding.file, finding.subject});
    return found != in_registers.end() && found->second;
  });
}

}  // namespace cuproof
