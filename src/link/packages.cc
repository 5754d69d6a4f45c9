#include "link/packages.h"

#include <algorithm>
#include <filesystem>

#include "link/text_file.h"

namespace cuproof {
namespace {

namespace fs = std::filesystem;

// torch's RECORD has 13,000 lines, 1.2 MB.
constexpr size_t kMaxRecord = size_t{64} << 20;
constexpr size_t kMaxPackages = 20'000;

std::string_view NextLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

// One cell of a CSV line; quotes hold commas, and a doubled quote is one.
std::string NextCell(std::string_view& line) {
  std::string cell;
  bool quoted = false;
  size_t at = 0;
  for (; at < line.size() && (quoted || line[at] != ','); ++at) {
    if (line[at] != '"') {
      cell += line[at];
    } else if (quoted && at + 1 < line.size() && line[at + 1] == '"') {
      cell += line[++at];
    } else {
      quoted = !quoted;
    }
  }
  line.remove_prefix(std::min(at + 1, line.size()));
  return cell;
}

bool IsSharedObject(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.ends_with(".so") || name.find(".so.") != std::string_view::npos;
}

// "torch==2.6.0", "torch (==2.6.0)"; "torch>=2.6" and what is for an extra pin nothing.
std::string TorchPin(std::string_view requirement) {
  if (!requirement.starts_with("torch")) return {};
  requirement.remove_prefix(5);
  if (requirement.find("extra") != std::string_view::npos) return {};
  const size_t start = requirement.find_first_not_of(" (");
  if (start == std::string_view::npos || !requirement.substr(start).starts_with("==")) return {};
  requirement.remove_prefix(start + 2);
  const size_t end = requirement.find_first_not_of("0123456789. ");
  const std::string_view version = Trimmed(requirement.substr(0, end));
  const bool wildcard = end != std::string_view::npos && requirement[end] == '*';
  return wildcard ? std::string() : std::string(version);
}

void ReadMetadata(const std::string& text, Package& package) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = NextLine(rest);
    if (line.empty()) return;
    const auto value = [&](std::string_view key) {
      return line.starts_with(key) ? Trimmed(line.substr(key.size())) : std::string_view();
    };
    if (const auto name = value("Name:"); !name.empty()) package.name = name;
    if (const auto version = value("Version:"); !version.empty()) package.version = version;
    if (const auto wanted = value("Requires-Dist:"); !wanted.empty() && package.torch_pin.empty()) {
      package.torch_pin = TorchPin(wanted);
    }
  }
}

struct Claim {
  size_t package;
  std::string hash;
  std::string size;
};

std::string WinnerOf(const std::string& path, const std::vector<Claim>& claims,
                     const std::vector<Package>& all) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) return {};
  std::string winner;
  for (const Claim& claim : claims) {
    if (claim.size != std::to_string(size)) continue;
    if (!winner.empty()) return {};
    winner = all[claim.package].Text();
  }
  return winner;
}

}  // namespace

std::vector<RecordLine> ReadRecord(std::string_view text) {
  std::vector<RecordLine> lines;
  while (!text.empty()) {
    std::string_view line = NextLine(text);
    if (line.empty()) continue;
    RecordLine record;
    record.path = NextCell(line);
    record.hash = NextCell(line);
    record.size = NextCell(line);
    lines.push_back(std::move(record));
  }
  return lines;
}

const Package* Packages::OwnerOf(const std::string& path) const {
  const auto at = owners.find(fs::path(path).lexically_normal().string());
  return at == owners.end() ? nullptr : &all[at->second];
}

Packages ReadPackages(const std::vector<std::string>& site_packages) {
  Packages packages;
  std::map<std::string, std::vector<Claim>> claims;
  for (const std::string& site : site_packages) {
    for (const std::string& name : ListFolder(site)) {
      if (!name.ends_with(".dist-info") || packages.all.size() == kMaxPackages) continue;
      Package package;
      package.folder = JoinPath(site, name);
      const std::string stem = name.substr(0, name.size() - 10);
      package.name = stem.substr(0, stem.find('-'));
      package.version = stem.substr(std::min(stem.size(), package.name.size() + 1));
      ReadMetadata(ReadSmallFile(package.folder + "/METADATA"), package);
      package.installer = Trimmed(ReadSmallFile(package.folder + "/INSTALLER", 256));
      package.has_record = IsFile(package.folder + "/RECORD");
      const std::string record =
          package.has_record ? ReadSmallFile(package.folder + "/RECORD", kMaxRecord) : "";
      for (RecordLine& line : ReadRecord(record)) {
        if (!IsSharedObject(line.path)) continue;
        const std::string path = fs::path(JoinPath(site, line.path)).lexically_normal().string();
        claims[path].push_back({packages.all.size(), std::move(line.hash), std::move(line.size)});
      }
      packages.all.push_back(std::move(package));
    }
  }
  for (const auto& entry : claims) {
    const std::string& path = entry.first;
    const std::vector<Claim>& owners = entry.second;
    packages.owners[path] = owners.back().package;
    const bool differ = std::any_of(owners.begin(), owners.end(), [&](const Claim& claim) {
      return claim.hash != owners.front().hash;
    });
    if (!differ) continue;
    OwnedTwice twice;
    twice.path = path;
    for (const Claim& claim : owners) twice.owners.push_back(claim.package);
    twice.winner = WinnerOf(path, owners, packages.all);
    packages.owned_twice.push_back(std::move(twice));
  }
  return packages;
}

}  // namespace cuproof
