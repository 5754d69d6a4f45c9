#include "link/torch_install.h"

#include <fmt/format.h>

#include <algorithm>

#include "link/text_file.h"

namespace cuproof {
namespace {

// The text in quotes behind `NAME … =` at the start of a line.
std::string QuotedValue(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.substr(0, name.size()) != name) continue;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view value = Trimmed(line.substr(equals + 1));
    if (value.size() < 2 || (value.front() != '\'' && value.front() != '"')) return {};
    return std::string(value.substr(1, value.find(value.front(), 1) - 1));
  }
  return {};
}

std::string HeaderValue(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (Trimmed(line).empty()) return {};
    if (line.substr(0, name.size()) == name) return std::string(Trimmed(line.substr(name.size())));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

// The texts in quotes of a stretch, in order.
std::vector<std::string> Quoted(std::string_view text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size() && out.size() < 1000;) {
    const size_t start = text.find_first_of("\"'\n#", at);
    if (start == std::string_view::npos) break;
    if (text[start] == '#') {
      at = std::min(text.find('\n', start), text.size());
      continue;
    }
    if (text[start] == '\n') {
      at = start + 1;
      continue;
    }
    const size_t end = text.find(text[start], start + 1);
    if (end == std::string_view::npos) break;
    out.emplace_back(text.substr(start + 1, end - start - 1));
    at = end + 1;
  }
  return out;
}

std::vector<TorchPreload::Library> Pairs(std::string_view text) {
  std::vector<TorchPreload::Library> libraries;
  const std::vector<std::string> quoted = Quoted(text);
  for (size_t i = 0; i + 1 < quoted.size(); ++i) {
    if (quoted[i + 1].substr(0, 3) == "lib" && quoted[i].substr(0, 3) != "lib") {
      libraries.push_back({quoted[i], quoted[i + 1]});
    }
  }
  return libraries;
}

std::string_view Between(std::string_view text, std::string_view from, std::string_view to) {
  const size_t start = text.find(from);
  if (start == std::string_view::npos) return {};
  text.remove_prefix(start + from.size());
  return text.substr(0, text.find(to));
}

}  // namespace

std::optional<TorchInstall> FindTorch(const std::string& site_packages) {
  TorchInstall torch;
  torch.folder = site_packages + "/torch";
  // A folder of that name without any of these is something of the user's.
  if (!IsFile(torch.folder + "/version.py") && !IsFolder(torch.folder + "/lib")) {
    return std::nullopt;
  }
  torch.source = torch.folder + "/version.py";
  const std::string text = ReadSmallFile(torch.source);
  torch.version = QuotedValue(text, "__version__");
  torch.cuda = QuotedValue(text, "cuda");
  for (const std::string& name : ListFolder(site_packages)) {
    if (!torch.version.empty()) break;
    if (name.substr(0, 6) != "torch-" || name.find(".dist-info") == std::string::npos) continue;
    torch.source = fmt::format("{}/{}/METADATA", site_packages, name);
    torch.version = HeaderValue(ReadSmallFile(torch.source), "Version:");
  }
  torch.has_cuda = IsFile(torch.folder + "/lib/libtorch_cuda.so") || !torch.cuda.empty();
  return torch;
}

TorchPreload ReadTorchPreload(std::string_view init_py) {
  TorchPreload preload;
  // A dict up to 2.8, a list of pairs from then on.
  std::string_view list = Between(init_py, "    cuda_libs: ", "\n    }");
  if (const auto shorter = Between(init_py, "    cuda_libs: ", "\n    ]");
      !shorter.empty() && (list.empty() || shorter.size() < list.size())) {
    list = shorter;
  }
  preload.all = Pairs(list);
  const std::string_view load = Between(init_py, "def _load_global_deps", "\ndef ");
  const std::string_view success =
      Between(load, "ctypes.CDLL(global_deps_lib_path, mode=ctypes.RTLD_GLOBAL)", "except OSError");
  // From 2.15 on those that are there, whatever else is not.
  preload.required = success.find("_preload_cuda_deps(required=False)") == std::string_view::npos;
  if (!preload.required || success.find("_preload_cuda_deps()") != std::string_view::npos) {
    preload.always = preload.all;
  }
  for (std::string_view rest = success;;) {
    const size_t call = rest.find("_preload_cuda_deps(\"");
    if (call == std::string_view::npos) break;
    rest.remove_prefix(call);
    for (auto& library : Pairs(rest.substr(0, rest.find(')')))) {
      preload.always.push_back(std::move(library));
    }
    rest.remove_prefix(1);
  }
  for (const std::string& cuda : Quoted(Between(success, "version.cuda not in [", "]"))) {
    preload.only_cuda.push_back(cuda);
  }
  const size_t maps = success.find(" not in _maps");
  if (maps != std::string_view::npos) {
    const std::string_view before = success.substr(0, maps);
    const auto quoted = Quoted(before.substr(before.rfind("if ") + 3));
    if (!quoted.empty()) preload.only_if_loaded = quoted.front();
  }
  return preload;
}

}  // namespace cuproof
