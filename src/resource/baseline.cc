#include "resource/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

namespace cuproof {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "cuproof.baseline/1";

template <typename T>
void Raise(std::optional<T>& value, const std::optional<T>& other) {
  if (other && (!value || *other > *value)) value = other;
}

std::optional<uint64_t> ExactSpills(const KernelResources& resources) {
  if (!resources.spills || resources.spills->basis == SpillBasis::kAtMost) return std::nullopt;
  return resources.spills->stores + resources.spills->loads;
}

BaselineKernel RowOf(const MeasuredKernel& kernel, const std::string& file) {
  BaselineKernel row;
  row.file = file;
  row.name = StableName(kernel.resources.name);
  row.arch = kernel.arch;
  row.registers = kernel.resources.registers;
  row.stack = kernel.resources.stack_frame;
  row.spills = ExactSpills(kernel.resources);
  if (kernel.shared_known) row.shared = kernel.resources.static_shared;
  row.block = kernel.block;
  row.warps_per_sm = kernel.warps_per_sm;
  return row;
}

void Merge(BaselineKernel& row, const BaselineKernel& other) {
  Raise(row.registers, other.registers);
  Raise(row.stack, other.stack);
  Raise(row.spills, other.spills);
  Raise(row.shared, other.shared);
  const bool lower = other.warps_per_sm && row.warps_per_sm > other.warps_per_sm;
  if (other.block != row.block) return;
  if (lower || !row.warps_per_sm) row.warps_per_sm = other.warps_per_sm;
}

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json RowJson(const BaselineKernel& row) {
  return {{"file", row.file},
          {"arch", row.arch},
          {"kernel", row.name},
          {"registers", OrNull(row.registers)},
          {"spills", OrNull(row.spills)},
          {"stack", OrNull(row.stack)},
          {"shared", OrNull(row.shared)},
          {"block", row.block ? Json(row.block) : Json(nullptr)},
          {"warps_per_sm", OrNull(row.warps_per_sm)}};
}

Error Damaged(const std::string& file, const std::string& phrase) {
  return {ErrorCode::kBadMagic, phrase + ": make it again with cuproof resources --write-baseline",
          file, std::nullopt};
}

// The line on which the text stops being JSON, from 1.
size_t LineOfFault(std::string_view text) {
  size_t at = text.size();
  try {
    const Json json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    at = std::min(at, error.byte);
  }
  return 1 + static_cast<size_t>(std::count(text.begin(), text.begin() + at, '\n'));
}

const Json* Member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

bool ReadText(const Json& object, const char* name, std::string& text) {
  const Json* const member = Member(object, name);
  if (!member || !member->is_string()) return false;
  text = member->get<std::string>();
  return true;
}

template <typename T>
bool ReadNumber(const Json& object, const char* name, std::optional<T>& number) {
  const Json* const member = Member(object, name);
  if (!member) return true;
  if (!member->is_number_unsigned() || member->get<uint64_t>() > UINT32_MAX) return false;
  number = static_cast<T>(member->get<uint64_t>());
  return true;
}

bool ReadRow(const Json& object, BaselineKernel& row) {
  std::optional<uint32_t> block;
  if (!object.is_object() || !ReadText(object, "file", row.file) ||
      !ReadText(object, "arch", row.arch) || !ReadText(object, "kernel", row.name) ||
      !ReadNumber(object, "registers", row.registers) ||
      !ReadNumber(object, "spills", row.spills) || !ReadNumber(object, "stack", row.stack) ||
      !ReadNumber(object, "shared", row.shared) || !ReadNumber(object, "block", block) ||
      !ReadNumber(object, "warps_per_sm", row.warps_per_sm))
    return false;
  row.block = block.value_or(0);
  return true;
}

}  // namespace

Baseline MakeBaseline(const std::vector<MeasuredKernel>& kernels) {
  std::map<std::tuple<std::string, std::string, std::string>, BaselineKernel> rows;
  const auto files = StableFiles(kernels);
  for (const MeasuredKernel& kernel : kernels) {
    if (!kernel.resources.is_entry) continue;
    BaselineKernel row = RowOf(kernel, files.at(kernel.file));
    auto key = std::tuple(row.file, row.name, row.arch);
    const auto [at, is_new] = rows.emplace(std::move(key), row);
    if (!is_new) Merge(at->second, row);
  }
  Baseline baseline;
  baseline.kernels.reserve(rows.size());
  for (auto& [key, row] : rows) baseline.kernels.push_back(std::move(row));
  return baseline;
}

std::string BaselineText(const Baseline& baseline) {
  std::string text = fmt::format("{{\"schema\":\"{}\",\"kernels\":[", kSchema);
  const char* separator = "\n";
  for (const BaselineKernel& row : baseline.kernels) {
    text += separator;
    text += RowJson(row).dump(-1, ' ', true, Json::error_handler_t::replace);
    separator = ",\n";
  }
  return text + "\n]}\n";
}

Result<Baseline> ParseBaseline(std::string_view text, const std::string& file) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    return Error{ErrorCode::kBadMagic,
                 fmt::format("line {}: expected JSON, as of --write-baseline, found what is none: "
                             "get the file again from where it is kept, or resolve its conflict",
                             LineOfFault(text)),
                 file, std::nullopt};
  }
  std::string schema;
  if (!json.is_object() || !ReadText(json, "schema", schema))
    return Damaged(file, "expected a baseline of cuproof, a JSON object with \"schema\"");
  if (schema != kSchema)
    return Damaged(file, fmt::format("expected schema {}, found '{}'", kSchema, schema));
  const Json* const rows = Member(json, "kernels");
  if (!rows || !rows->is_array()) return Damaged(file, "expected an array \"kernels\"");
  Baseline baseline;
  for (size_t i = 0; i < rows->size(); ++i) {
    BaselineKernel row;
    if (!ReadRow((*rows)[i], row)) {
      return Damaged(file,
                     fmt::format("kernel {} has a member that is missing or is no number", i));
    }
    baseline.kernels.push_back(std::move(row));
  }
  return baseline;
}

}  // namespace cuproof
