#include "rule/wheel_tag.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace cuproof {
namespace {

constexpr std::string_view kVersioned = ".cpython-";
constexpr std::string_view kStable = ".abi3.so";

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// "cp311" of "_C.cpython-311-x86_64-linux-gnu.so"; empty for others. "311d" and "313t" are other
// ABIs, with tags of their own.
std::string PythonOf(const std::string& member) {
  const size_t at = member.rfind(kVersioned);
  if (at == std::string::npos) return {};
  const size_t start = at + kVersioned.size();
  const size_t end = member.find_first_of("-.", start);
  if (end == std::string::npos || end == start) return {};
  const std::string number = member.substr(start, end - start);
  const bool digits = number.find_first_not_of("0123456789") == std::string::npos;
  return digits ? "cp" + number : "";
}

bool All(const std::vector<std::string>& tags, std::string_view start) {
  return !tags.empty() && std::all_of(tags.begin(), tags.end(), [&](const std::string& tag) {
    return tag.starts_with(start);
  });
}

bool Has(const std::vector<std::string>& list, const std::string& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

// Another file that the right Python imports by the same name.
bool HasSibling(const WheelModule& module, const WheelTags& tags,
                const std::vector<std::string>& names) {
  const std::string stem = module.shown.substr(0, module.shown.rfind(kVersioned));
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    if (!name.starts_with(stem)) return false;
    const std::string rest = name.substr(stem.size());
    return rest == ".so" || rest == kStable || Has(tags.pythons, PythonOf(rest));
  });
}

std::optional<Finding> WrongPython(const WheelModule& module, const WheelTags& tags,
                                   const std::vector<std::string>& names) {
  const std::string python = PythonOf(module.member);
  // A wheel for py3 or abi3 is installed for several, and this module is for one of them.
  if (python.empty() || !All(tags.pythons, "cp") || !All(tags.abis, "cp")) return std::nullopt;
  if (Has(tags.pythons, python) || HasSibling(module, tags, names)) return std::nullopt;
  Finding finding;
  finding.subject = python;
  finding.message = fmt::format("is named for {}, and the wheel is for {}: no Python imports it",
                                python, fmt::join(tags.pythons, ", "));
  finding.evidence.emplace_back("at import: ModuleNotFoundError");
  return finding;
}

std::optional<Finding> WrongMachine(const WheelModule& module, const WheelTags& tags) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kMachines = {
      {{"x86_64", "x86-64"}, {"aarch64", "aarch64"}}};
  std::string wanted;
  for (const std::string& platform : tags.platforms) {
    const auto known = std::find_if(kMachines.begin(), kMachines.end(), [&](const auto& machine) {
      return platform.ends_with("_" + std::string(machine.first)) &&
             platform.find("linux") != std::string::npos;
    });
    if (known == kMachines.end() || known->second == module.machine) return std::nullopt;
    wanted = known->second;
  }
  if (wanted.empty() || module.machine.empty()) return std::nullopt;
  Finding finding;
  finding.subject = module.machine;
  finding.message = fmt::format("is {} code in a wheel for {}", module.machine, wanted);
  finding.evidence.emplace_back(
      "at import: cannot open shared object file: No such file or directory (glibc's words for "
      "another machine)");
  return finding;
}

std::optional<Finding> WrongLibc(const WheelModule& module, const WheelTags& tags) {
  const bool musl = All(tags.platforms, "musllinux");
  const bool gnu = All(tags.platforms, "manylinux");
  const auto wrong =
      std::find_if(module.needed.begin(), module.needed.end(), [&](const std::string& name) {
        return (musl && name == "libc.so.6") || (gnu && name.starts_with("libc.musl-"));
      });
  if (wrong == module.needed.end()) return std::nullopt;
  Finding finding;
  finding.subject = *wrong;
  finding.message = fmt::format("needs {}, and the wheel is for systems with {}", *wrong,
                                musl ? "musl" : "glibc");
  finding.evidence.push_back(fmt::format("at import: {}: cannot open shared object file", *wrong));
  return finding;
}

}  // namespace

WheelTags TagsOf(const std::string& path) {
  constexpr std::string_view kEnd = ".whl";
  std::string name = path.substr(path.rfind('/') + 1);
  if (!name.ends_with(kEnd)) return {};
  name.resize(name.size() - kEnd.size());
  const std::vector<std::string> parts = Split(name, '-');
  if (parts.size() != 5 && parts.size() != 6) return {};
  const size_t first = parts.size() - 3;
  return {Split(parts[first], '.'), Split(parts[first + 1], '.'), Split(parts[first + 2], '.')};
}

bool IsModuleName(const std::string& member) {
  return member.ends_with(kStable) || (!PythonOf(member).empty() && member.ends_with(".so"));
}

void AddTagFindings(const std::vector<Root>& roots, const std::vector<WheelModule>& modules,
                    const std::vector<std::string>& names, std::vector<Finding>& findings) {
  for (const WheelModule& module : modules) {
    const WheelTags tags = TagsOf(roots[module.root].argument);
    std::optional<Finding> finding = WrongMachine(module, tags);
    if (!finding) finding = WrongLibc(module, tags);
    if (!finding) finding = WrongPython(module, tags, names);
    if (!finding) continue;
    finding->id = "CP314";
    finding->severity = Severity::kWarning;
    finding->file = module.shown;
    finding->evidence.push_back(fmt::format("the wheel is named {}-{}-{}",
                                            fmt::join(tags.pythons, "."), fmt::join(tags.abis, "."),
                                            fmt::join(tags.platforms, ".")));
    finding->fix = "build the wheel on the system and with the Python that its name says";
    finding->source = "PEP 425, PEP 427; importlib.machinery.EXTENSION_SUFFIXES";
    finding->verified_on = "CPython 3.11, glibc 2.36: tests/wheel_tags_test.py";
    findings.push_back(std::move(*finding));
  }
}

}  // namespace cuproof
