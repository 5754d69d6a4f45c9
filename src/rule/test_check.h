#pragma once
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "build_fatbin.h"
#include "rule/rule.h"

// What rules see, out of hand-made files.
namespace cuproof {

struct TestFile {
  std::string path;
  std::string bytes;
};

/// Files of one root, read as `check --deep` does, and judged. Without `gpus` none is named, and
/// one of each desktop architecture is judged.
inline Report JudgedFiles(const std::vector<TestFile>& files, const std::vector<std::string>& gpus,
                          std::string_view driver = "") {
  Report report;
  for (const std::string& gpu : gpus) report.target.gpus.push_back(FindGpus(gpu)->front());
  if (gpus.empty()) report.target.gpus = AllGpus(false);
  report.target.named = !gpus.empty();
  if (!driver.empty()) report.target.driver = *FindDriver(driver);
  report.roots = {{RootKind::kFolder, "root", ""}};
  report.needed.resize(1);
  for (const auto& [path, bytes] : files) {
    FileReport file;
    file.path = path;
    file.images = ListImages(ByteView(bytes));
    ReadDeep(ByteView(bytes), file.images, 1);
    for (const Gpu& gpu : report.target.gpus) {
      if (file.images.modules.empty()) break;
      file.verdicts.push_back(JudgeFile(file.images, gpu, report.target.driver));
    }
    report.needed[0].insert(file.images.host.needed.begin(), file.images.host.needed.end());
    report.files.push_back(std::move(file));
  }
  return report;
}

using Rule = void (*)(const FileContext&, std::vector<Finding>&);

/// What one rule says about one of the files.
inline std::vector<Finding> Findings(Rule rule, const Report& report, size_t file = 0) {
  std::vector<Finding> findings;
  rule({report.files[file], report, report.target}, findings);
  for (const Finding& finding : findings) {
    EXPECT_EQ(finding.file, report.files[file].path);
    EXPECT_FALSE(finding.message.empty());
  }
  return findings;
}

/// The findings about a file of one container in a shared object of CUDA 13.
inline std::vector<Finding> FindingsOf(Rule rule, const std::vector<build::Entry>& entries,
                                       const std::vector<std::string>& gpus,
                                       std::string_view driver = "") {
  const std::string bytes = build::SharedObject(build::Fatbin(entries));
  return Findings(rule, JudgedFiles({{"pkg/libx.so", bytes}}, gpus, driver));
}

inline std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += text + '\n';
  return joined;
}

}  // namespace cuproof
