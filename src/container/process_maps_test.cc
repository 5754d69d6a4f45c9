#include "container/process_maps.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "container/test_folder.h"
#include "container/unit.h"

namespace cuproof {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::Field;
using testing::Not;

/// A file mapped as the loader maps code.
class Mapped {
 public:
  explicit Mapped(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    at_ = mmap(nullptr, kSize, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    close(fd);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() { munmap(at_, kSize); }

 private:
  static constexpr size_t kSize = 4096;
  void* at_;
};

std::string Self() { return fmt::format("pid:{}", getpid()); }

TEST(ReadMapping, TakesLinesThatNameAFile) {
  const auto mapping = ReadMapping(
      "7f1c2a000000-7f1c2a028000 r-xp 00001000 fd:01 1234567                    "
      "/opt/a b/lib\\012c.so");
  ASSERT_TRUE(mapping);
  EXPECT_EQ(mapping->range, "7f1c2a000000-7f1c2a028000");
  EXPECT_TRUE(mapping->executable);
  EXPECT_EQ(mapping->inode, 1234567u);
  EXPECT_EQ(mapping->path, "/opt/a b/lib\nc.so");
}

TEST(ReadMapping, LeavesTheRest) {
  EXPECT_FALSE(ReadMapping("7ffd1000-7ffd2000 rw-p 00000000 00:00 0          [stack]"));
  EXPECT_FALSE(ReadMapping("7ffd1000-7ffd2000 rw-p 00000000 00:00 0"));
  EXPECT_FALSE(ReadMapping("7ffd1000-7ffd2000 rw-p 00000000 00:0e 12 anon_inode:[io_uring]"));
  EXPECT_FALSE(ReadMapping("7ffd1000-7ffd2000"));
  EXPECT_FALSE(ReadMapping(""));
}

TEST(Process, AMappedFileIsAUnitOnce) {
  const TestFolder folder;
  const std::string file = folder.Write("lib.so", ElfLike(4096));
  const Mapped first(file);
  const Mapped second(file);
  const Inventory inventory = TakeInventory({Self()});
  EXPECT_EQ(inventory.roots[0].kind, RootKind::kProcess);
  EXPECT_FALSE(inventory.roots[0].name.empty());
  EXPECT_THAT(inventory.units, Contains(Field(&Unit::shown, file)).Times(1));
  EXPECT_THAT(inventory.units, Contains(Field(&Unit::file, file)).Times(1));
  EXPECT_THAT(Phrases(inventory.problems), testing::IsEmpty());
}

TEST(Process, ADeletedFileIsReadThroughTheMappingOrSaid) {
  const TestFolder folder;
  const std::string file = folder.Write("lib.so", ElfLike(4096));
  const Mapped mapped(file);
  std::filesystem::remove(file);
  const Inventory inventory = TakeInventory({Self()});
  if (inventory.problems.empty()) {
    EXPECT_THAT(inventory.units, Contains(Field(&Unit::shown, file + " (deleted)")));
  } else {  // without CAP_CHECKPOINT_RESTORE
    EXPECT_THAT(Phrases(inventory.problems),
                ElementsAre(file + ": deleted since the process mapped it, and out of reach"));
  }
}

TEST(Process, AReplacedFileIsNotTakenForTheMappedOne) {
  const TestFolder folder;
  const std::string file = folder.Write("lib.so", ElfLike(4096));
  const Mapped mapped(file);
  std::filesystem::rename(folder.Write("new", ElfLike(5000)), file);
  const Inventory inventory = TakeInventory({Self()});
  // The kernel calls the old file deleted; the new one was never mapped.
  EXPECT_THAT(inventory.units, Not(Contains(Field(&Unit::shown, file))));
  EXPECT_EQ(inventory.problems.size() +
                static_cast<size_t>(std::count_if(
                    inventory.units.begin(), inventory.units.end(),
                    [&](const Unit& unit) { return unit.shown == file + " (deleted)"; })),
            1u);
}

TEST(Process, NonsenseIsOneClearLine) {
  EXPECT_THAT(Phrases(TakeInventory({"pid:", "pid:12x", "pid:0", "pid:-1"}).problems),
              ElementsAre("pid:: expected the number of a process, as in pid:1234",
                          "pid:12x: expected the number of a process, as in pid:1234",
                          "pid:0: expected the number of a process, as in pid:1234",
                          "pid:-1: expected the number of a process, as in pid:1234"));
  EXPECT_THAT(Phrases(TakeInventory({"pid:4194305"}).problems),  // past the largest pid
              ElementsAre("pid:4194305: no process has this number"));
}

TEST(Process, AProcessOfSomebodyElseIsOneClearLine) {
  if (geteuid() == 0 && seteuid(65534) != 0) GTEST_SKIP() << "cannot give up root's rights";
  const Inventory inventory = TakeInventory({"pid:1"});
  ASSERT_TRUE(getuid() != 0 || seteuid(0) == 0);
  EXPECT_THAT(Phrases(inventory.problems), ElementsAre(EndsWith("pid:1: Permission denied")));
}

}  // namespace
}  // namespace cuproof
