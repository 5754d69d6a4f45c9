#include "container/kernel_metadata.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "bytes/mapped_file.h"

namespace cuproof {
namespace {

// A real one has less than 1 KB; it is read again for each file beside it.
constexpr uint64_t kMaxSize = 64 << 10;
constexpr size_t kMaxArchs = 256;

}  // namespace

std::vector<std::string> DeclaredArchsIn(const std::string& json) {
  std::vector<std::string> archs;
  const auto root = nlohmann::json::parse(json, nullptr, false);
  if (!root.is_object() || !root.contains("backend")) return archs;
  const auto& backend = root["backend"];
  if (!backend.is_object() || backend.value("type", nlohmann::json()) != "cuda") return archs;
  const auto list = backend.find("archs");
  if (list == backend.end() || !list->is_array()) return archs;
  for (const auto& arch : *list) {
    if (arch.is_string() && archs.size() < kMaxArchs) archs.push_back(arch.get<std::string>());
  }
  return archs;
}

std::vector<std::string> DeclaredArchs(const Unit& unit) {
  if (!unit.members.empty()) return {};
  const auto folder = std::filesystem::path(unit.file).parent_path();
  std::error_code error;
  if (!std::filesystem::is_regular_file(folder / "metadata.json", error)) return {};
  const auto file = MappedFile::Open((folder / "metadata.json").string());
  if (!file || file->bytes().size() > kMaxSize) return {};
  return DeclaredArchsIn(std::string(file->bytes().Text()));
}

}  // namespace cuproof
