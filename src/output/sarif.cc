#include "output/sarif.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include "bytes/embedded.h"
#include "output/json.h"
#include "resource/measured_kernel.h"

namespace cuproof {
namespace {

constexpr const char* kSchema = "https://json.schemastore.org/sarif-2.1.0.json";
constexpr size_t kMessageBytes = 4000;  // of one result
constexpr const char* kRoot = "%SRCROOT%";

bool IsUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~' || c == '/';
}

std::string PercentEncoded(std::string_view path) {
  std::string uri;
  for (const char c : path) {
    if (IsUnreserved(c)) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return uri;
}

std::string_view PageOf(std::string_view id) {
  for (const EmbeddedText& page : EmbeddedPages()) {
    if (page.name == id) return page.text;
  }
  return {};
}

// The title of a page, "# CP101: no image runs", without its mark and id.
std::string TitleOf(std::string_view page, const std::string& id) {
  const std::string_view line = page.substr(0, page.find('\n'));
  const size_t colon = line.find(": ");
  return colon == std::string_view::npos ? id : std::string(line.substr(colon + 2));
}

std::string FirstParagraph(std::string_view page) {
  const size_t start = page.find("\n\n");
  if (start == std::string_view::npos) return {};
  page.remove_prefix(start + 2);
  std::string text(page.substr(0, page.find("\n\n")));
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

const char* CategoryOf(const std::string& id) {
  constexpr const char* kCategories[] = {"device-code", "symbols", "libraries", "resources",
                                         "run-time",    "caches",  "build"};
  const bool known = id.size() > 2 && id[2] >= '1' && id[2] <= '7';
  return known ? kCategories[id[2] - '1'] : "other";
}

Json RuleJson(const std::string& id) {
  const std::string_view page = PageOf(id);
  const std::string title = TitleOf(page, id);
  const std::string paragraph = FirstParagraph(page);
  return {{"id", id},
          {"name", id},
          {"shortDescription", {{"text", title}}},
          {"fullDescription", {{"text", paragraph.empty() ? title : paragraph}}},
          {"help", {{"text", std::string(page)}, {"markdown", std::string(page)}}},
          {"properties", {{"tags", {"cuda", CategoryOf(id)}}, {"precision", "high"}}}};
}

// "line 12" -> 12.
uint32_t LineOf(const std::string& subject) {
  constexpr std::string_view kLine = "line ";
  uint32_t line = 0;
  if (subject.compare(0, kLine.size(), kLine) == 0)
    std::from_chars(subject.data() + kLine.size(), subject.data() + subject.size(), line);
  return line;
}

std::string MessageOf(const Finding& finding) {
  std::string text;
  // A member of a wheel has no URI of its own; a source line says nothing of the library.
  const bool elsewhere = !finding.source_file.empty();
  if (elsewhere || finding.file.find('!') != std::string::npos) text += finding.file + ": ";
  if (!finding.subject.empty() && finding.message.find(finding.subject) == std::string::npos)
    text += finding.subject + ": ";
  text += finding.message;
  for (const std::string& fact : finding.evidence) text += "\n- " + fact;
  if (!finding.fix.empty()) text += "\nFix: " + finding.fix;
  if (text.size() > kMessageBytes) text = text.substr(0, kMessageBytes) + "...";
  return text;
}

Json LocationJson(const Finding& finding, const SarifRun& run) {
  const bool source = !finding.source_file.empty();
  const std::string& path = source ? finding.source_file : finding.file;
  std::string uri = FileUri(path.substr(0, path.find('!')), run.folder);
  const bool absolute = uri.compare(0, 5, "file:") == 0;
  Json artifact = {{"uri", uri.empty() ? "." : std::move(uri)}};
  if (!absolute) artifact["uriBaseId"] = kRoot;
  const uint32_t line = source ? finding.source_line : LineOf(finding.subject);
  Json location;
  location["physicalLocation"] = {{"artifactLocation", std::move(artifact)},
                                  {"region", {{"startLine", std::max(1u, line)}}}};
  if (!finding.subject.empty())
    location["logicalLocations"] = Json::array({{{"fullyQualifiedName", finding.subject}}});
  return location;
}

Json NotificationJson(const std::string& text, const char* level) {
  return {{"level", level}, {"message", {{"text", text}}}};
}

class RunWriter {
 public:
  explicit RunWriter(const SarifRun& run) : run_(run) {}

  void Add(const Finding& finding) {
    if (full_) {
      ++left_out_;
      return;
    }
    Json result;
    result["ruleId"] = finding.id;
    result["ruleIndex"] = RuleIndex(finding.id);
    result["level"] = SeverityName(finding.severity);
    result["message"] = {{"text", MessageOf(finding)}};
    result["locations"] = Json::array({LocationJson(finding, run_)});
    const std::string hash = FindingFingerprint(finding);
    result["partialFingerprints"] = {
        {"primaryLocationLineHash", fmt::format("{}:{}", hash, ++seen_[hash])}};
    const size_t size = DumpJson(result, -1).size() + 1;
    if (results_.size() >= kSarifResults || bytes_ + size > kSarifBytes - kReserve) {
      full_ = true;
      ++left_out_;
      return;
    }
    bytes_ += size;
    results_.push_back(std::move(result));
  }

  std::string Text(const std::vector<Error>& problems) {
    Json notifications = Json::array();
    if (left_out_ > 0) {
      notifications.push_back(NotificationJson(
          fmt::format("{} findings, the least severe ones, are left out: the file would be larger "
                      "than code scanning takes",
                      left_out_),
          "warning"));
    }
    for (const Error& problem : problems) {
      if (notifications.size() > kNotifications) break;
      notifications.push_back(NotificationJson(problem.Text().substr(0, kMessageBytes), "error"));
    }
    const Json invocation = {{"executionSuccessful", problems.empty()},
                             {"toolExecutionNotifications", std::move(notifications)}};
    const Json driver = {
        {"name", "cuproof"}, {"semanticVersion", run_.version}, {"rules", std::move(rules_)}};
    Json run;
    run["tool"] = {{"driver", driver}};
    run["automationDetails"] = {{"id", "cuproof/" + run_.command + "/"}};
    run["invocations"] = Json::array({invocation});
    run["columnKind"] = "utf16CodeUnits";
    run["results"] = std::move(results_);
    const Json file = {
        {"$schema", kSchema}, {"version", "2.1.0"}, {"runs", Json::array({std::move(run)})}};
    return DumpJson(file, -1) + "\n";
  }

 private:
  // Rules, with the pages of all findings, and notifications.
  static constexpr size_t kReserve = 2'000'000;
  static constexpr size_t kNotifications = 100;

  size_t RuleIndex(const std::string& id) {
    const auto [at, is_new] = rule_of_.emplace(id, rules_.size());
    if (is_new) rules_.push_back(RuleJson(id));
    return at->second;
  }

  const SarifRun& run_;
  Json rules_ = Json::array();
  std::map<std::string, size_t> rule_of_;
  Json results_ = Json::array();
  std::map<std::string, size_t> seen_;
  size_t bytes_ = 0;
  bool full_ = false;
  size_t left_out_ = 0;
};

}  // namespace

std::string FileUri(std::string_view path, std::string_view folder) {
  while (path.substr(0, 2) == "./") path.remove_prefix(2);
  if (path.empty() || path[0] != '/') return PercentEncoded(path);
  const bool inside = !folder.empty() && path.size() > folder.size() &&
                      path.substr(0, folder.size()) == folder && path[folder.size()] == '/';
  if (inside) return PercentEncoded(path.substr(folder.size() + 1));
  return "file://" + PercentEncoded(path);
}

std::string FindingFingerprint(const Finding& finding) {
  const bool line = LineOf(finding.subject) != 0;
  const std::string parts[] = {finding.id, StableFile(finding.file),
                               line ? finding.message : StableName(finding.subject)};
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const std::string& part : parts) {
    for (const char c : part + '\0') {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
  }
  return fmt::format("{:016x}", hash);
}

std::string SarifText(const std::vector<Finding>& findings, const std::vector<Error>& problems,
                      const SarifRun& run) {
  RunWriter writer(run);
  for (const Severity severity : {Severity::kError, Severity::kWarning, Severity::kNote}) {
    for (const Finding& finding : findings) {
      if (finding.severity == severity) writer.Add(finding);
    }
  }
  return writer.Text(problems);
}

}  // namespace cuproof
