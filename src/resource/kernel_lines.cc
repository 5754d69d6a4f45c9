#include "resource/kernel_lines.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
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
  if (a.name_rank != b.name_rank) return a.name_rank < b.name_rank;
  return Shown(a) < Shown(b);
}

// A program has what went into the device link besides what came out of it.
std::unordered_set<const std::string*> LinkedNames(const FileKernels& file) {
  std::unordered_set<const std::string*> names;
  for (const KernelRow& row : file.kernels) {
    if (!row.resources.relocatable) names.insert(row.name);
  }
  return names;
}

// Names are long and alike: each is compared with others once, not in every comparison of lines.
void RankNames(std::vector<KernelLine>& lines) {
  std::unordered_map<const std::string*, uint32_t> ranks;
  for (const KernelLine& line : lines) ranks.emplace(line.row->name, 0);
  std::vector<const std::string*> names;
  names.reserve(ranks.size());
  for (const auto& [name, rank] : ranks) names.push_back(name);
  std::sort(names.begin(), names.end(),
            [](const std::string* a, const std::string* b) { return *a < *b; });
  for (size_t i = 0; i < names.size(); ++i) ranks[names[i]] = static_cast<uint32_t>(i);
  for (KernelLine& line : lines) line.name_rank = ranks[line.row->name];
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
  const auto linked = LinkedNames(file);
  for (const KernelRow& row : file.kernels) {
    if (!row.resources.is_entry) continue;
    if (row.resources.relocatable && linked.contains(row.name)) continue;
    const std::vector<uint32_t> own = {CurrentSm(row.arch.number)};
    for (const uint32_t sm : row.gpus.empty() ? own : row.gpus) {
      lines.push_back({&row, AnswerLaunch(row.resources, sm, question), 1, 0});
    }
  }
  RankNames(lines);
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
