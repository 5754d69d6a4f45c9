#include "output/resources_json.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "output/check_json.h"
#include "output/json.h"
#include "symbol/demangle.h"

namespace cuproof {
namespace {

using Text = fmt::memory_buffer;

template <typename... Arguments>
void Add(Text& out, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
}

void AddNumber(const char* name, std::optional<uint64_t> value, Text& out) {
  if (value) {
    Add(out, R"(,"{}":{})", name, *value);
  } else {
    Add(out, R"(,"{}":null)", name);
  }
}

void AddTriple(const char* name, const std::optional<std::array<uint32_t, 3>>& value, Text& out) {
  if (value) {
    Add(out, R"(,"{}":[{},{},{}])", name, (*value)[0], (*value)[1], (*value)[2]);
  } else {
    Add(out, R"(,"{}":null)", name);
  }
}

void AddAnswer(const LaunchAnswer& answer, Text& out) {
  const Occupancy& occupancy = answer.occupancy;
  Add(out, R"({{"gpu":"sm_{}","block":{},"block_basis":"{}","dynamic_shared":{})", answer.sm,
      answer.block, BlockBasisName(answer.basis), answer.dynamic_shared);
  Add(out, R"(,"blocks_per_sm":{},"warps_per_sm":{},"occupancy":{:.4f},"limited_by":[)",
      occupancy.blocks, occupancy.warps, occupancy.fraction);
  for (size_t i = 0; i < occupancy.limits.size(); ++i) {
    Add(out, R"({}"{}")", i ? "," : "", ResourceName(occupancy.limits[i]));
  }
  Add(out, R"(],"largest_block":{}}})", answer.largest_block);
}

class Writer {
 public:
  explicit Writer(const LaunchQuestion& question) : question_(question) {}

  void AddKernel(const KernelRow& row, Text& out) {
    const KernelResources& kernel = row.resources;
    Add(out, R"({{"name":{},"demangled":{},"entry":{},"arch":{},"toolkit":{},"abi":{})",
        JsonText(*row.name), Demangled(row), kernel.is_entry,
        row.arch.number ? "\"sm_" + ArchText(row.arch) + '"' : "null",
        kernel.toolkit.known() ? JsonText(VersionText(kernel.toolkit)) : "null",
        row.of_log ? "null" : std::to_string(kernel.abi));
    AddNumber("registers", kernel.registers, out);
    AddNumber("stack_frame", kernel.stack_frame, out);
    AddNumber("cumulative_stack", kernel.cumulative_stack, out);
    Add(out, R"(,"indirect_calls":{},"recursion":{})", Known(row, kernel.indirect_calls),
        Known(row, kernel.recursion));
    AddNumber("static_shared",
              row.shared_known ? std::optional<uint64_t>(kernel.static_shared) : std::nullopt, out);
    AddNumber("barriers", kernel.barriers, out);
    AddSpills(kernel.spills, out);
    const auto& callees = kernel.callee_spills;
    AddNumber("callee_spill_stores", callees ? std::optional(callees->stores) : std::nullopt, out);
    AddNumber("callee_spill_loads", callees ? std::optional(callees->loads) : std::nullopt, out);
    AddConstants(kernel, out);
    AddTriple("max_threads", kernel.max_threads, out);
    Add(out, R"(,"required_threads":{})", Known(row, kernel.required_threads));
    AddNumber("register_limit", kernel.register_limit, out);
    AddTriple("cluster", kernel.cluster, out);
    AddNumber("max_cluster_rank", kernel.max_cluster_rank, out);
    AddParameters(row, out);
    AddSource(kernel, out);
    Add(out, R"(,"relocatable":{},"damaged":{},"occupancy":[)", Known(row, kernel.relocatable),
        Known(row, kernel.damaged));
    AddAnswers(row, out);
    Add(out, "]}}");
  }

 private:
  const std::string& Demangled(const KernelRow& row) {
    const auto [found, added] = demangled_.try_emplace(row.name);
    if (added) found->second = JsonText(DemangledOrSame(*row.name));
    return found->second;
  }

  static void AddSpills(const std::optional<Spills>& spills, Text& out) {
    AddNumber("spill_stores", spills ? std::optional(spills->stores) : std::nullopt, out);
    AddNumber("spill_loads", spills ? std::optional(spills->loads) : std::nullopt, out);
    Add(out, R"(,"spill_basis":"{}")", SpillBasisName(spills));
  }

  static void AddConstants(const KernelResources& kernel, Text& out) {
    Add(out, R"(,"constants":{{)");
    bool first = true;
    for (const ConstantBank& bank : kernel.constants) {
      Add(out, R"({}"{}":{})", first ? "" : ",", bank.bank, bank.bytes);
      first = false;
    }
    Add(out, "}}");
  }

  static const char* Known(const KernelRow& row, bool value) {
    if (row.of_log) return "null";
    return value ? "true" : "false";
  }

  static void AddParameters(const KernelRow& row, Text& out) {
    const KernelResources& kernel = row.resources;
    if (row.of_log) {
      Add(out, R"(,"parameter_bytes":null,"parameters":null)");
      return;
    }
    Add(out, R"(,"parameter_bytes":{},"parameters":[)", kernel.parameter_bytes);
    bool first = true;
    for (const KernelParameter& parameter : kernel.parameters) {
      Add(out, R"({}{{"ordinal":{},"offset":{},"size":{}}})", first ? "" : ",", parameter.ordinal,
          parameter.offset, parameter.size);
      first = false;
    }
    Add(out, "]");
  }

  static void AddSource(const KernelResources& kernel, Text& out) {
    if (kernel.source_file.empty()) {
      Add(out, R"(,"source":null)");
    } else {
      Add(out, R"(,"source":{{"file":{},"line":{}}})", JsonText(kernel.source_file),
          kernel.source_line);
    }
  }

  void AddAnswers(const KernelRow& row, Text& out) {
    if (!row.resources.is_entry) return;
    const auto& sms = row.gpus.empty() ? Capabilities(row.arch) : row.gpus;
    bool first = true;
    for (const uint32_t sm : sms) {
      const auto answer = AnswerLaunch(row.resources, sm, question_);
      if (!answer) continue;
      if (!first) Add(out, ",");
      first = false;
      AddAnswer(*answer, out);
    }
  }

  const std::vector<uint32_t>& Capabilities(Arch arch) {
    const auto [found, added] = capabilities_.try_emplace(arch);
    if (added) found->second = CapabilitiesFor(arch);
    return found->second;
  }

  const LaunchQuestion& question_;
  std::map<const std::string*, std::string> demangled_;
  std::map<Arch, std::vector<uint32_t>> capabilities_;
};

}  // namespace

const char* SpillBasisName(const std::optional<Spills>& spills) {
  if (!spills) return "unknown";
  switch (spills->basis) {
    case SpillBasis::kExact:
      return "exact";
    case SpillBasis::kByAnnotation:
      return "by annotation";
    case SpillBasis::kAtMost:
      break;
  }
  return "at most";
}

std::string ResourcesJson(const Survey& survey, const LaunchQuestion& question,
                          const std::vector<Finding>& findings, const std::string& version) {
  Text out;
  Writer writer(question);
  Add(out, "{{\n  \"schema\": 1,\n  \"tool\": \"cuproof\",\n  \"version\": {},\n  \"files\": [",
      JsonText(version));
  bool first_file = true;
  for (const FileKernels& file : survey.files) {
    Add(out, "{}\n    {{\"file\": {}, \"cubins\": {}, \"ptx_modules\": {}, \"kernels\": [",
        first_file ? "" : ",", JsonText(file.path), file.cubins, file.ptx_modules);
    first_file = false;
    bool first = true;
    for (const KernelRow& row : file.kernels) {
      Add(out, "{}\n      ", first ? "" : ",");
      first = false;
      writer.AddKernel(row, out);
    }
    Add(out, "]}}");
  }
  Add(out, "\n  ],\n  \"findings\": [");
  bool first = true;
  for (const Finding& finding : findings) {
    Add(out, "{}\n    {}", first ? "" : ",", DumpJson(FindingJson(finding), -1));
    first = false;
  }
  Add(out, "],\n  \"problems\": [");
  first = true;
  for (const Error& problem : survey.problems) {
    Add(out, "{}\n    {}", first ? "" : ",", DumpJson(ErrorJson(problem), -1));
    first = false;
  }
  Add(out, "]\n}}\n");
  return fmt::to_string(out);
}

}  // namespace cuproof
