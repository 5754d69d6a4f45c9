#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "container/content.h"
#include "container/test_folder.h"
#include "container/unit.h"

namespace cuproof {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// Root may read everything, so tests of permission go on as nobody for a while.
class AsNobody {
 public:
  AsNobody() { given_up_ = geteuid() != 0 || seteuid(65534) == 0; }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() {
    if (getuid() == 0 && seteuid(0) != 0) abort();
  }
  bool given_up() const { return given_up_; }

 private:
  bool given_up_ = false;
};

TEST(Inventory, AFolderIsSearchedByContent) {
  const TestFolder folder;
  folder.Write("deep/er/lib.txt", ElfLike(200));
  folder.Write("data", std::string("\x01\0\x02", 3));
  folder.Write("module.so", "a text, whatever its name");
  folder.Write("empty.so", "");
  const Inventory inventory = TakeInventory({folder.path()});
  ASSERT_EQ(inventory.roots.size(), 1u);
  EXPECT_EQ(inventory.roots[0].kind, RootKind::kFolder);
  EXPECT_THAT(ShownUnits(inventory), ElementsAre(folder.At("deep/er/lib.txt"), folder.At("data")));
  EXPECT_EQ(inventory.units[0].size, 200u);
  EXPECT_FALSE(inventory.units[0].named);
  EXPECT_EQ(inventory.files_seen, 4u);
  EXPECT_THAT(Phrases(inventory.problems), IsEmpty());
  EXPECT_THAT(Phrases(inventory.skipped), IsEmpty());
}

TEST(Inventory, ANamedFileIsAUnitWhateverItIs) {
  const TestFolder folder;
  const Inventory inventory =
      TakeInventory({folder.Write("a.txt", "text"), folder.Write("empty", "")});
  ASSERT_EQ(inventory.units.size(), 2u);
  EXPECT_TRUE(inventory.units[0].named);
  EXPECT_EQ(inventory.units[0].root, 0u);
  EXPECT_EQ(inventory.units[1].root, 1u);
  EXPECT_EQ(inventory.roots[1].kind, RootKind::kFile);
}

TEST(Inventory, AFileInANamedFolderStaysNamed) {
  const TestFolder folder;
  const std::string file = folder.Write("a.so", ElfLike());
  const Inventory inventory = TakeInventory({folder.path() + "/", file});
  EXPECT_THAT(ShownUnits(inventory), ElementsAre(file));
  EXPECT_TRUE(inventory.units[0].named);
  EXPECT_EQ(inventory.units[0].root, 1u);
  EXPECT_EQ(inventory.files_seen, 1u);
  EXPECT_EQ(inventory.duplicates, 1u);
}

TEST(Inventory, LinksAndHardLinkedCopiesCountOnce) {
  const TestFolder folder;
  const TestFolder outside;
  folder.Write("lib.so.1", ElfLike());
  fs::create_symlink("lib.so.1", folder.At("a_link.so"));
  fs::create_hard_link(folder.At("lib.so.1"), folder.At("lib.so.2"));
  fs::create_symlink(outside.Write("other.so", ElfLike(300)), folder.At("other.so"));
  const Inventory inventory = TakeInventory({folder.path()});
  EXPECT_THAT(ShownUnits(inventory), ElementsAre(folder.At("other.so"), folder.At("lib.so.1")));
  EXPECT_EQ(inventory.duplicates, 2u);
}

TEST(Inventory, LinksToFoldersAreNotFollowed) {
  const TestFolder folder;
  const TestFolder outside;
  folder.Write("lib/a.so", ElfLike());
  outside.Write("b.so", ElfLike());
  fs::create_directory_symlink("lib", folder.At("lib64"));
  fs::create_directory_symlink(".", folder.At("itself"));
  fs::create_directory_symlink(outside.path(), folder.At("out"));
  const Inventory inventory = TakeInventory({folder.path()});
  EXPECT_THAT(ShownUnits(inventory), ElementsAre(folder.At("lib/a.so")));
  EXPECT_THAT(Phrases(inventory.skipped),
              ElementsAre(folder.At("out") + ": link to a folder outside: name it to check it"));
  // Nothing is lost where the other folder is walked as well.
  const Inventory both = TakeInventory({folder.path(), outside.path()});
  EXPECT_EQ(both.units.size(), 2u);
  EXPECT_THAT(Phrases(both.skipped), IsEmpty());
}

TEST(Inventory, LinksThatLeadNowhereAreSaid) {
  const TestFolder folder;
  fs::create_symlink("two", folder.At("one"));
  fs::create_symlink("one", folder.At("two"));
  fs::create_symlink("gone", folder.At("dangling"));
  const Inventory inventory = TakeInventory({folder.path()});
  EXPECT_THAT(Phrases(inventory.skipped),
              UnorderedElementsAre(folder.At("one") + ": link that leads back to itself",
                                   folder.At("two") + ": link that leads back to itself",
                                   folder.At("dangling") + ": link to a file that does not exist"));
  EXPECT_THAT(Phrases(inventory.problems), IsEmpty());
}

TEST(Inventory, SpecialFilesAreAProblemOnlyWhenNamed) {
  const TestFolder folder;
  const std::string fifo = folder.At("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  fs::create_symlink("fifo", folder.At("link"));
  const Inventory in_folder = TakeInventory({folder.path()});
  EXPECT_THAT(Phrases(in_folder.problems), IsEmpty());
  EXPECT_THAT(Phrases(in_folder.skipped), IsEmpty());
  const Inventory named = TakeInventory({fifo, "/dev/null"});
  EXPECT_THAT(Phrases(named.problems),
              ElementsAre(fifo + ": expected a regular file, got a FIFO",
                          "/dev/null: expected a regular file, got a device"));
}

TEST(Inventory, MissingPathsAreProblemsAndTheOthersGoOn) {
  const TestFolder folder;
  const std::string file = folder.Write("a.so", ElfLike());
  const Inventory inventory = TakeInventory({folder.At("none"), file, ""});
  EXPECT_EQ(inventory.roots.size(), 3u);
  EXPECT_THAT(ShownUnits(inventory), ElementsAre(file));
  EXPECT_THAT(
      Phrases(inventory.problems),
      ElementsAre(folder.At("none") + ": No such file or directory", "No such file or directory"));
}

TEST(Inventory, UnreadableFilesAndFoldersAreProblems) {
  const TestFolder folder;
  const std::string file = folder.Write("a.so", ElfLike());
  folder.Write("closed/b.so", ElfLike());
  folder.Write("open/c.so", ElfLike());
  fs::permissions(file, fs::perms::none);
  fs::permissions(folder.At("closed"), fs::perms::none);
  Inventory inventory;
  {
    const AsNobody nobody;
    if (!nobody.given_up()) GTEST_SKIP() << "cannot give up the right to read everything";
    inventory = TakeInventory({folder.path(), file});
  }
  fs::permissions(folder.At("closed"), fs::perms::owner_all);
  EXPECT_THAT(ShownUnits(inventory), ElementsAre(folder.At("open/c.so")));
  EXPECT_THAT(Phrases(inventory.problems),
              UnorderedElementsAre(file + ": Permission denied", file + ": Permission denied",
                                   folder.At("closed") + ": Permission denied"));
}

TEST(Inventory, LargeUnknownDataIsSkippedUnlessNamed) {
  const TestFolder folder;
  const std::string file = folder.Write("weights.bin", std::string("\x01\0", 2));
  fs::resize_file(file, kMaxUnknownData + 1);
  EXPECT_THAT(Phrases(TakeInventory({folder.path()}).skipped),
              ElementsAre(file + ": large data file not looked into: name it to check it"));
  EXPECT_THAT(ShownUnits(TakeInventory({file})), ElementsAre(file));
  fs::resize_file(file, kMaxUnknownData);
  EXPECT_THAT(ShownUnits(TakeInventory({folder.path()})), ElementsAre(file));
}

TEST(Inventory, EnvironmentsAreToldByTheirMarks) {
  const TestFolder folder;
  folder.Write("venv/pyvenv.cfg", "home = /usr/bin\n");
  folder.Write("conda/conda-meta/history", "");
  fs::create_directory(folder.At("plain"));
  const Inventory inventory = TakeInventory(
      {folder.At("venv"), folder.At("conda") + "/", folder.At("plain"), folder.At("venv/.")});
  ASSERT_EQ(inventory.roots.size(), 4u);
  EXPECT_EQ(inventory.roots[0].kind, RootKind::kEnvironment);
  EXPECT_EQ(inventory.roots[0].name, "venv");
  EXPECT_EQ(inventory.roots[1].kind, RootKind::kEnvironment);
  EXPECT_EQ(inventory.roots[1].name, "conda");
  EXPECT_EQ(inventory.roots[2].kind, RootKind::kFolder);
  EXPECT_EQ(inventory.roots[3].name, "venv");
}

TEST(Inventory, TheKernelsOwnFilesAreNotWalked) {
  const Inventory inventory = TakeInventory({"/proc/self"});
  EXPECT_THAT(ShownUnits(inventory), IsEmpty());
  EXPECT_THAT(Phrases(inventory.skipped),
              ElementsAre("/proc/self: the kernel's own file system: not looked into"));
}

}  // namespace
}  // namespace cuproof
