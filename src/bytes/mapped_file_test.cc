#include "bytes/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace cuproof {
namespace {

namespace fs = std::filesystem;

class MappedFileTest : public testing::Test {
 protected:
  MappedFileTest() {
    std::string pattern = testing::TempDir() + "/mapped.XXXXXX";
    if (mkdtemp(pattern.data())) folder_ = pattern;
  }
  ~MappedFileTest() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::string At(const std::string& name) const { return folder_ + '/' + name; }
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(At(name), std::ios::binary) << bytes;
    return At(name);
  }
  static std::string Refusal(const std::string& path) {
    const auto file = MappedFile::Open(path);
    return file ? "opened" : file.error().Text();
  }

  std::string folder_;
};

// Read through a volatile pointer: the compiler must not drop or merge the loads.
uint8_t ByteAt(const MappedFile& file, uint64_t offset) {
  return static_cast<const volatile uint8_t*>(file.bytes().data())[offset];
}

TEST_F(MappedFileTest, GivesTheBytesOfAFile) {
  const auto file = MappedFile::Open(Write("a", "some bytes"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->bytes().Text(), "some bytes");
  EXPECT_FALSE(file->changed());
}

TEST_F(MappedFileTest, AnEmptyFileHasNoBytesAndIsNoError) {
  const auto file = MappedFile::Open(Write("empty", ""));
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->bytes().empty());
  EXPECT_FALSE(file->changed());
}

TEST_F(MappedFileTest, FollowsLinks) {
  fs::create_symlink(Write("a", "linked"), At("link"));
  const auto file = MappedFile::Open(At("link"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->bytes().Text(), "linked");
}

TEST_F(MappedFileTest, AMissingFileIsNotFound) {
  const auto file = MappedFile::Open(At("none"));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(file.error().file, At("none"));
  EXPECT_EQ(MappedFile::Open(Write("a", "x") + "/below").error().code, ErrorCode::kNotFound);
}

TEST_F(MappedFileTest, AFolderIsRefused) {
  EXPECT_EQ(Refusal(folder_), folder_ + ": expected a regular file, got a folder");
  EXPECT_EQ(MappedFile::Open(folder_).error().code, ErrorCode::kNotRegular);
}

TEST_F(MappedFileTest, AFifoIsRefusedWithoutWaitingForAWriter) {
  ASSERT_EQ(mkfifo(At("fifo").c_str(), 0600), 0);
  EXPECT_EQ(Refusal(At("fifo")), At("fifo") + ": expected a regular file, got a FIFO");
}

TEST_F(MappedFileTest, ASocketIsRefused) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_GE(fd, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string path = At("s");
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(Refusal(path), path + ": expected a regular file, got a socket");
  close(fd);
}

TEST_F(MappedFileTest, ADeviceIsRefused) {
  EXPECT_EQ(Refusal("/dev/null"), "/dev/null: expected a regular file, got a device");
  EXPECT_EQ(Refusal("/dev/zero"), "/dev/zero: expected a regular file, got a device");
}

TEST_F(MappedFileTest, AFileThatShrinksReadsAsZerosAndSaysSo) {
  const auto page = static_cast<size_t>(getpagesize());
  const std::string path = Write("shrinks", std::string(8 * page, 'x'));
  const auto file = MappedFile::Open(path);
  ASSERT_TRUE(file);
  EXPECT_EQ(ByteAt(*file, 7 * page), 'x');
  ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(2 * page)), 0);
  EXPECT_EQ(ByteAt(*file, page), 'x');
  EXPECT_EQ(ByteAt(*file, 3 * page + 17), 0);
  EXPECT_TRUE(file->changed());
  EXPECT_EQ(ByteAt(*file, 8 * page - 1), 0);
  // What is still there reads as before.
  EXPECT_EQ(ByteAt(*file, 2 * page - 1), 'x');
}

TEST_F(MappedFileTest, AFileThatShrinksByAFewBytesSaysSo) {
  const std::string path = Write("shrinks", std::string(100, 'x'));
  const auto file = MappedFile::Open(path);
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->changed());
  ASSERT_EQ(truncate(path.c_str(), 99), 0);
  EXPECT_TRUE(file->changed());
  EXPECT_EQ(ByteAt(*file, 98), 'x');
}

TEST_F(MappedFileTest, AFileThatGrowsOrGoesAwayReadsAsItWas) {
  const std::string path = Write("grows", std::string(100, 'x'));
  const auto file = MappedFile::Open(path);
  ASSERT_TRUE(file);
  ASSERT_EQ(truncate(path.c_str(), 5000), 0);
  EXPECT_EQ(file->bytes().size(), 100u);
  EXPECT_FALSE(file->changed());
  fs::remove(path);
  EXPECT_EQ(ByteAt(*file, 99), 'x');
  EXPECT_FALSE(file->changed());
}

TEST_F(MappedFileTest, OnlyTheFileThatShrankIsMarked) {
  const auto page = static_cast<size_t>(getpagesize());
  const auto whole = MappedFile::Open(Write("whole", std::string(4 * page, 'w')));
  const std::string path = Write("shrinks", std::string(4 * page, 'x'));
  auto file = MappedFile::Open(path);
  ASSERT_TRUE(whole && file);
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_EQ(ByteAt(*file, 3 * page), 0);
  EXPECT_TRUE(file->changed());
  EXPECT_FALSE(whole->changed());
  EXPECT_EQ(ByteAt(*whole, 3 * page), 'w');
  // The mark moves with the mapping.
  const MappedFile moved = std::move(*file);
  EXPECT_TRUE(moved.changed());
}

TEST_F(MappedFileTest, AMarkIsNotInherited) {
  const auto page = static_cast<size_t>(getpagesize());
  const std::string path = Write("a", std::string(4 * page, 'x'));
  {
    const auto file = MappedFile::Open(path);
    ASSERT_TRUE(file);
    ASSERT_EQ(truncate(path.c_str(), 0), 0);
    EXPECT_EQ(ByteAt(*file, page), 0);
    EXPECT_TRUE(file->changed());
  }
  const auto again = MappedFile::Open(Write("a", std::string(4 * page, 'y')));
  ASSERT_TRUE(again);
  EXPECT_EQ(ByteAt(*again, page), 'y');
  EXPECT_FALSE(again->changed());
}

TEST_F(MappedFileTest, ManyThreadsReadAFileThatShrinks) {
  const auto page = static_cast<size_t>(getpagesize());
  const std::string path = Write("shrinks", std::string(64 * page, 'x'));
  const auto file = MappedFile::Open(path);
  ASSERT_TRUE(file);
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (size_t at = 0; at < 64; ++at) EXPECT_EQ(ByteAt(*file, at * page), 0);
    });
  }
  threads.clear();
  EXPECT_TRUE(file->changed());
}

TEST_F(MappedFileTest, MovesItsMapping) {
  auto first = MappedFile::Open(Write("a", "first"));
  auto second = MappedFile::Open(Write("b", "second"));
  ASSERT_TRUE(first && second);
  *first = std::move(*second);
  EXPECT_EQ(first->bytes().Text(), "second");
  const MappedFile third = std::move(*first);
  EXPECT_EQ(third.bytes().Text(), "second");
  EXPECT_TRUE(first->bytes().empty());
}

TEST_F(MappedFileTest, MoreFilesThanItCanWatchAreStillRead) {
  const std::string path = Write("a", "bytes");
  std::vector<MappedFile> files;
  for (int i = 0; i < 300; ++i) {
    auto file = MappedFile::Open(path);
    ASSERT_TRUE(file);
    files.push_back(std::move(*file));
  }
  EXPECT_EQ(files.back().bytes().Text(), "bytes");
  EXPECT_FALSE(files.back().changed());
}

}  // namespace
}  // namespace cuproof
