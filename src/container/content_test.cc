#include "container/content.h"

#include <gtest/gtest.h>

#include <string>

#include "container/test_folder.h"

namespace cuproof {
namespace {

using namespace std::string_literals;

Content Tell(const std::string& head, uint64_t size = 0) {
  return TellContent(ByteView(head), size ? size : head.size());
}

TEST(Content, ProgramsAreToldByTheirFirstBytes) {
  EXPECT_EQ(Tell(ElfLike()), Content::kProgram);
  EXPECT_EQ(Tell("MZ\x90\0"s), Content::kProgram);
  EXPECT_EQ(Tell("!<arch>\n"), Content::kProgram);
  EXPECT_EQ(Tell("//\n// Generated\n//\n\n.version 8.0\n.target sm_90\n"), Content::kProgram);
}

TEST(Content, Zips) {
  EXPECT_EQ(Tell("PK\x03\x04\x14\0"s), Content::kZip);
  EXPECT_EQ(Tell("PK\x05\x06\0\0"s), Content::kZip);
}

TEST(Content, TextAndNothingAreLeftAlone) {
  EXPECT_EQ(Tell("import torch\n"), Content::kOther);
  EXPECT_EQ(Tell("\xC3\xA4\xFF without a NUL"), Content::kOther);
  EXPECT_EQ(Tell(""), Content::kOther);
}

TEST(Content, UnknownBinaryIsData) {
  EXPECT_EQ(Tell("\x01\x02\0\x03"s), Content::kData);
  EXPECT_EQ(Tell("\x28\xB5\x2F\xFD\0 a zstd frame can be a cubin"s), Content::kData);
}

TEST(Content, FormatsWithoutDeviceCodeAreLeftAlone) {
  EXPECT_EQ(Tell("\x89PNG\r\n\x1A\n\0\0\0\x0D"s), Content::kOther);
  EXPECT_EQ(Tell("\x1F\x8B\x08\0\0"s), Content::kOther);
  EXPECT_EQ(Tell("\x93NUMPY\x01\0"s), Content::kOther);
  EXPECT_EQ(Tell("\x40\0\0\0\0\0\0\0{\"__metadata__\":"s), Content::kOther);
}

TEST(Content, PythonBytecode) {
  const std::string python311 = "\xA7\x0D\x0D\x0A\0\0\0\0\x11\x22\x33\x44\x55\x66\0\0\xE3\0"s;
  EXPECT_EQ(Tell(python311), Content::kOther);
  EXPECT_EQ(Tell(python311, 1ull << 30), Content::kData);
  EXPECT_EQ(Tell("\xA7\x0D\x0D\x0A\0\0\0\0 not a code object"s), Content::kData);
  EXPECT_EQ(Tell("\xA7\x0D\x0D\x0A\0"s), Content::kData);
}

}  // namespace
}  // namespace cuproof
