#include "output/resources_csv.h"

#include <fmt/format.h>

#include <iterator>

#include "output/resources_json.h"
#include "symbol/demangle.h"
#include "target/facts.h"

namespace cuproof {
namespace {

// Quoted always: names hold commas. Control bytes have no place in a table.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
  }
  return out + "\"";
}

template <typename Number>
std::string OrEmpty(const std::optional<Number>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string Limits(const Occupancy& occupancy) {
  std::string text;
  for (const Resource resource : occupancy.limits) {
    text += (text.empty() ? "" : ";") + std::string(ResourceName(resource));
  }
  return text;
}

void AppendLine(const FileKernels& file, const KernelRow& row, uint32_t sm,
                const LaunchQuestion& question, fmt::memory_buffer& out) {
  const KernelResources& kernel = row.resources;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "{},{},{},sm_{},{}", Quoted(file.path), Quoted(*row.name),
                 Quoted(DemangledOrSame(*row.name)), ArchText(row.arch),
                 kernel.toolkit.known() ? VersionText(kernel.toolkit) : "");
  const bool spills = kernel.spills.has_value();
  fmt::format_to(to, ",{},{},{},{},{},{},{},{}", OrEmpty(kernel.registers),
                 spills ? fmt::format("{}", kernel.spills->stores) : "",
                 spills ? fmt::format("{}", kernel.spills->loads) : "",
                 SpillBasisName(kernel.spills), OrEmpty(kernel.stack_frame),
                 OrEmpty(kernel.cumulative_stack), kernel.static_shared, OrEmpty(kernel.barriers));
  const auto answer = AnswerLaunch(kernel, sm, question);
  if (!answer) {
    fmt::format_to(to, ",sm_{},,,,,,,,{}\n", sm, kernel.relocatable);
    return;
  }
  fmt::format_to(to, ",sm_{},{},{},{},{},{:.4f},{},{},{}\n", sm, answer->block,
                 answer->dynamic_shared, answer->occupancy.blocks, answer->occupancy.warps,
                 answer->occupancy.fraction, Limits(answer->occupancy), answer->largest_block,
                 kernel.relocatable);
}

}  // namespace

std::string ResourcesCsv(const Survey& survey, const LaunchQuestion& question) {
  fmt::memory_buffer out;
  fmt::format_to(std::back_inserter(out),
                 "file,name,demangled,arch,toolkit,registers,spill_stores,spill_loads,spill_basis,"
                 "stack_frame,cumulative_stack,static_shared,barriers,gpu,block,dynamic_shared,"
                 "blocks_per_sm,warps_per_sm,occupancy,limited_by,largest_block,relocatable\n");
  for (const FileKernels& file : survey.files) {
    for (const KernelRow& row : file.kernels) {
      if (!row.resources.is_entry) continue;
      const std::vector<uint32_t> own = {CurrentSm(row.arch.number)};
      for (const uint32_t sm : row.gpus.empty() ? own : row.gpus) {
        AppendLine(file, row, sm, question, out);
      }
    }
  }
  return fmt::to_string(out);
}

}  // namespace cuproof
