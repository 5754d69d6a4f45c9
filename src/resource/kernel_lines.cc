#include "resource/kernel_lines.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "target/facts.h"

namespace cuproof {
namespace {

uint64_t KeyOf(const KernelLine& line, KernelOrder order) {
  const KernelResources& kernel = line.row->resources;
  switch (order) {
    case KernelOrder::kSpills:
      return SpillBytes(kernel);
    case KernelOrder::kRegisters:
      return kernel.registers.value_or(0);
    case KernelOrder::kShared:
      return kernel.static_shared;
    case KernelOrder::kStack:
      return std::max(kernel.cumulative_stack.value_or(0), kernel.stack_frame.value_or(0));
    case KernelOrder::kOccupancy:
      return line.answer ? UINT32_MAX - static_cast<uint32_t>(line.answer->occupancy.fraction * 1e6)
                         : 0;
    case KernelOrder::kName:
      break;
  }
  return 0;
}

// All that a line shows: lines that are equal in it are told as one.
auto Shown(const KernelLine& line) {
  const KernelResources& kernel = line.row->resources;
  const auto spills = kernel.spills.value_or(Spills{});
  return std::tuple(line.row->arch, line.answer ? line.answer->sm : 0,
                    kernel.registers.value_or(UINT32_MAX), spills.stores, spills.loads,
                    kernel.cumulative_stack.value_or(UINT32_MAX), kernel.stack_frame.value_or(0),
                    kernel.static_shared, kernel.barriers.value_or(UINT32_MAX),
                    CompiledThreads(kernel), kernel.required_threads);
}

bool Before(const KernelLine& a, const KernelLine& b, KernelOrder order) {
  const uint64_t key_a = KeyOf(a, order);
  const uint64_t key_b = KeyOf(b, order);
  if (key_a != key_b) return key_a > key_b;
  if (order == KernelOrder::kSpills) {
    const uint64_t registers_a = KeyOf(a, KernelOrder::kRegisters);
    const uint64_t registers_b = KeyOf(b, KernelOrder::kRegisters);
    if (registers_a != registers_b) return registers_a > registers_b;
  }
  if (a.row->name != b.row->name) return *a.row->name < *b.row->name;
  return Shown(a) < Shown(b);
}

void MergeCopies(std::vector<KernelLine>& lines) {
  size_t kept = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (kept > 0 && lines[kept - 1].row->name == lines[i].row->name &&
        Shown(lines[kept - 1]) == Shown(lines[i])) {
      ++lines[kept - 1].copies;
    } else {
      if (kept != i) lines[kept] = std::move(lines[i]);
      ++kept;
    }
  }
  lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(kept), lines.end());
}

}  // namespace

std::optional<KernelOrder> ParseKernelOrder(std::string_view text) {
  if (text == "spills") return KernelOrder::kSpills;
  if (text == "registers") return KernelOrder::kRegisters;
  if (text == "shared") return KernelOrder::kShared;
  if (text == "stack") return KernelOrder::kStack;
  if (text == "occupancy") return KernelOrder::kOccupancy;
  if (text == "name") return KernelOrder::kName;
  return std::nullopt;
}

uint64_t SpillBytes(const KernelResources& kernel) {
  return kernel.spills ? kernel.spills->stores + kernel.spills->loads : 0;
}

std::vector<KernelLine> KernelLines(const FileKernels& file, const LaunchQuestion& question,
                                    KernelOrder order) {
  std::vector<KernelLine> lines;
  for (const KernelRow& row : file.kernels) {
    if (!row.resources.is_entry) continue;
    const std::vector<uint32_t> own = {CurrentSm(row.arch.number)};
    for (const uint32_t sm : row.gpus.empty() ? own : row.gpus) {
      lines.push_back({&row, AnswerLaunch(row.resources, sm, question), 1});
    }
  }
  std::sort(lines.begin(), lines.end(),
            [&](const KernelLine& a, const KernelLine& b) { return Before(a, b, order); });
  MergeCopies(lines);
  return lines;
}

void ArrangeKernels(const LaunchQuestion& question, KernelOrder order, size_t top, Survey& survey) {
  for (FileKernels& file : survey.files) {
    std::vector<KernelRow> arranged;
    std::unordered_set<const KernelRow*> taken;
    for (const KernelLine& line : KernelLines(file, question, order)) {
      if (top != 0 && arranged.size() >= top) break;
      if (taken.insert(line.row).second) arranged.push_back(*line.row);
    }
    file.kernels = std::move(arranged);
  }
}

}  // namespace cuproof
