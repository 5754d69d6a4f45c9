// What ptxas said of each kernel, kept beside the objects by cmake/keep_ptxas_log.sh.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "grad/grad_policy.h"

namespace cuproof::ops::test {
namespace {

struct Kernel {
  std::string name;
  std::string arch;
  int registers = 0;
};

struct Log {
  std::vector<Kernel> kernels;
  std::string text;
  std::vector<std::string> wasteful;  // lines about stacks and spills that are not 0
};

Log ReadLogs() {
  Log log;
  const std::regex entry("Compiling entry function '([^']+)' for '([^']+)'");
  const std::regex used("Used ([0-9]+) registers");
  const std::regex stack("([0-9]+) bytes stack frame, ([0-9]+) bytes spill stores, ([0-9]+) bytes");
  for (const auto& file : std::filesystem::recursive_directory_iterator(CUPROOF_OPS_OBJECTS)) {
    if (file.path().extension() != ".ptxas") continue;
    std::ifstream stream(file.path());
    std::string line;
    while (std::getline(stream, line)) {
      log.text += line + "\n";
      std::smatch match;
      if (std::regex_search(line, match, entry)) log.kernels.push_back({match[1], match[2], 0});
      if (std::regex_search(line, match, used)) log.kernels.back().registers = std::stoi(match[1]);
      if (std::regex_search(line, match, stack) &&
          (match[1] != "0" || match[2] != "0" || match[3] != "0")) {
        log.wasteful.push_back(log.kernels.back().name + ", " + log.kernels.back().arch + ": " +
                               line);
      }
    }
  }
  return log;
}

int LimitOf(const std::string& name) {
  if (name.find("GradNormKernel") != std::string::npos) return RegisterLimit(kNormPolicy);
  if (name.find("GradScaleKernel") != std::string::npos) return RegisterLimit(kScalePolicy);
  if (name.find("GradAccumulateKernel") != std::string::npos) {
    return RegisterLimit(kAccumulatePolicy);
  }
  // The ending kernel's first argument is its number of threads; one CTA a multiprocessor will do.
  if (name.find("FinishNormKernelILi1024E") != std::string::npos) return 65536 / 1024;
  if (name.find("FinishNormKernel") != std::string::npos) return 255;
  return 32;  // of one thread: loss scale and ring
}

TEST(PtxasLog, EveryKernelIsThereForEveryArchitecture) {
  std::map<std::string, std::set<std::string>> archs;
  for (const Kernel& kernel : ReadLogs().kernels) archs[kernel.name].insert(kernel.arch);
  std::set<std::string> wanted;
  std::istringstream words(CUPROOF_OPS_ARCHITECTURES);
  for (std::string word; words >> word;) wanted.insert(word);
  ASSERT_FALSE(wanted.empty());
  // 3 pages of the norm and of the scale, 2 ways to end it, accumulate, loss scale, 2 for the ring.
  EXPECT_EQ(archs.size(), 15u);
  for (const auto& [name, has] : archs) EXPECT_EQ(has, wanted) << name;
}

TEST(PtxasLog, RegistersAreWithinThePolicy) {
  for (const Kernel& kernel : ReadLogs().kernels) {
    EXPECT_GT(kernel.registers, 0) << kernel.name;
    EXPECT_LE(kernel.registers, LimitOf(kernel.name)) << kernel.name << " for " << kernel.arch;
  }
}

TEST(PtxasLog, NoStackAndNoSpills) {
  for (const std::string& line : ReadLogs().wasteful) ADD_FAILURE() << line;
}

TEST(PtxasLog, NoWarnings) {
  // C7510: wgmma serialised; anything else that is no "info" is as unwelcome.
  const std::string text = ReadLogs().text;
  EXPECT_EQ(text.find("C7510"), std::string::npos);
  EXPECT_EQ(text.find("warning"), std::string::npos);
}

}  // namespace
}  // namespace cuproof::ops::test
