#pragma once
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "container/unit.h"

namespace cuproof {

/// A folder for one test, gone with it.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern = testing::TempDir() + "/cuproof.XXXXXX";
    if (mkdtemp(pattern.data())) path_ = std::filesystem::canonical(pattern).string();
    // Tests that give up root's rights must still get in.
    std::filesystem::permissions(path_, std::filesystem::perms(0755));
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string At(const std::string& name) const { return path_ + '/' + name; }

  std::string Write(const std::string& name, std::string_view bytes) const {
    std::string path = At(name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

 private:
  std::string path_;
};

/// Bytes that are told to be an ELF file, of any size.
inline std::string ElfLike(size_t size = 100) {
  std::string bytes(
      "\x7F"
      "ELF\x02\x01\x01");
  bytes.resize(size, '\0');
  return bytes;
}

inline std::vector<std::string> Phrases(const std::vector<Error>& errors) {
  std::vector<std::string> phrases;
  phrases.reserve(errors.size());
  for (const Error& error : errors) phrases.push_back(error.Text());
  return phrases;
}

inline std::vector<std::string> ShownUnits(const Inventory& inventory) {
  std::vector<std::string> shown;
  shown.reserve(inventory.units.size());
  for (const Unit& unit : inventory.units) shown.push_back(unit.shown);
  return shown;
}

}  // namespace cuproof
