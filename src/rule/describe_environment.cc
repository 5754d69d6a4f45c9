#include "rule/describe_environment.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "link/search.h"
#include "link/text_file.h"
#include "rule/report.h"
#include "symbol/sections.h"

namespace cuproof {
namespace {

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

// cuDNN 9 holds the names of its parts as texts, without the number behind: "libcudnn_ops.so".
std::vector<ForeignPart> PartsOfCudnn(const Environment& environment, FileCache& files,
                                      const Process& prepared, const std::string& opener,
                                      const std::string& major) {
  std::vector<ForeignPart> parts;
  const auto file = files.Open(opener);
  if (!file->object) return parts;
  std::set<std::string> names;
  ForEachConstant(file->bytes(), "libcudnn_", [&](std::string_view text) {
    const size_t so = text.find(".so");
    if (so == std::string_view::npos || text.find_first_of("/% ") != std::string_view::npos) return;
    names.insert(fmt::format("{}.so.{}", text.substr(0, so), major));
  });
  std::vector<Requester> chain = {{&*file->object, opener}};
  if (!prepared.objects().empty()) {
    chain.push_back({&prepared.objects()[0].dynamic(), prepared.objects()[0].path});
  }
  const Searcher searcher(environment, files);
  for (const std::string& name : names) {
    // What torch has loaded already is taken, wherever it lies.
    if (prepared.FindLoaded(name) != kNoObject) continue;
    const std::string beside = FolderOf(opener) + '/' + name;
    const SearchResult result = searcher.Find(name, chain);
    ForeignPart part{name, opener, "", ""};
    if (result.winner) {
      const Candidate& winner = result.candidates[*result.winner];
      const auto own = files.Open(beside);
      if (own->exists && own->inode == winner.file->inode && own->device == winner.file->device) {
        continue;
      }
      part.found = winner.path;
      part.found_by = FoundByName(winner.step.by);
    } else if (IsFile(beside)) {
      continue;  // found by nobody by name, and opened by path perhaps
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<ForeignPart> ForeignPartsOf(const Environment& environment, FileCache& files,
                                        const Process& prepared) {
  std::vector<ForeignPart> parts;
  for (const std::string& folder : environment.nvidia_folders) {
    for (const std::string& name : ListFolder(folder, 1000)) {
      if (!name.starts_with("libcudnn") || name.find(".so.") == std::string::npos) continue;
      const std::string major = name.substr(name.rfind('.') + 1);
      if (major.find_first_not_of("0123456789") != std::string::npos) continue;
      if (!name.starts_with("libcudnn.so") && !name.starts_with("libcudnn_graph.so")) continue;
      for (ForeignPart& part :
           PartsOfCudnn(environment, files, prepared, JoinPath(folder, name), major)) {
        parts.push_back(std::move(part));
      }
    }
  }
  return parts;
}

std::vector<std::string> BitsAndBytes(const Environment& environment) {
  std::set<std::string> numbers;
  for (const std::string& site : environment.site_packages) {
    for (const std::string& name : ListFolder(site + "/bitsandbytes", 1000)) {
      const std::string number = BitsAndBytesNumber("bitsandbytes/" + name);
      if (!number.empty()) numbers.insert(number);
    }
  }
  return {numbers.begin(), numbers.end()};
}

// What can be imported from it, if anything native.
bool HoldsSharedObjects(const std::string& folder) {
  namespace fs = std::filesystem;
  constexpr size_t kMostFiles = 20'000;
  std::error_code error;
  fs::recursive_directory_iterator files(folder, fs::directory_options::skip_permission_denied,
                                         error);
  size_t seen = 0;
  for (; !error && files != fs::recursive_directory_iterator() && ++seen < kMostFiles;
       files.increment(error)) {
    const std::string name = files->path().filename().string();
    if (name.ends_with(".so") || name.find(".so.") != std::string::npos) return true;
  }
  return false;
}

}  // namespace

std::string BitsAndBytesNumber(const std::string& path) {
  constexpr std::string_view kStart = "bitsandbytes/libbitsandbytes_cuda";
  if (!path.starts_with(kStart) || !path.ends_with(".so")) return {};
  const std::string number = path.substr(kStart.size(), path.size() - kStart.size() - 3);
  const bool digits = number.find_first_not_of("0123456789") == std::string::npos;
  return number.size() == 3 && digits ? number : "";
}

HostEnvironment DescribeEnvironment(const Environment& environment, FileCache& files,
                                    const Process& prepared, bool has_program) {
  HostEnvironment host;
  host.folder = environment.folder;
  host.has_program = has_program;
  if (environment.torch) {
    host.torch_version = environment.torch->version;
    host.torch_cuda = environment.torch->cuda;
    host.torch_folder = environment.torch->folder;
  }
  for (const TorchInstall& other : environment.other_torches) {
    host.other_torches.push_back(fmt::format("torch {} in {}", other.version, other.folder));
  }
  host.packages = ReadPackages(environment.site_packages);
  host.foreign_parts = ForeignPartsOf(environment, files, prepared);
  host.bitsandbytes = BitsAndBytes(environment);
  for (const PathEntry& entry : environment.path_entries) {
    if (HoldsSharedObjects(entry.folder)) host.path_entries.push_back(entry);
  }
  return host;
}

void RunEnvironmentRules(const EnvironmentContext& context, std::vector<Finding>& findings) {
  constexpr EnvironmentRule kRules[] = {RuleOperatorClaims, RuleOwnedTwice, RuleTwoTorches,
                                        RuleForeignParts, RuleCudaVariant};
  for (const EnvironmentRule rule : kRules) rule(context, findings);
}

}  // namespace cuproof
