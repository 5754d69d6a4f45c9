#include "link/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "build_dynamic.h"
#include "container/test_folder.h"
#include "link/system_libraries.h"

namespace cuproof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Environment Find(const std::string& folder, const std::string& sysroot = {}) {
  EnvironmentOptions options;
  options.folder = folder;
  options.sysroot = sysroot;
  return FindEnvironment(options);
}

void WriteTorch(const TestFolder& folder, const std::string& site, const std::string& version) {
  folder.Write(site + "/torch/version.py", "__version__ = '" + version + "'\ncuda = '13.0'\n");
}

TEST(LinkEnvironment, AVirtualEnvironment) {
  const TestFolder folder;
  folder.Write("python3.11", build::DynamicElfBytes({}));
  folder.Write("venv/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = false\n");
  std::filesystem::create_directories(folder.At("venv/bin"));
  std::filesystem::create_symlink("../../python3.11", folder.At("venv/bin/python3"));
  WriteTorch(folder, "venv/lib/python3.11/site-packages", "2.11.0+cu130");
  folder.Write("venv/lib/python3.11/site-packages/nvidia/cu13/lib/libcudart.so.13", "x");
  folder.Write("venv/lib/python3.11/site-packages/nvidia/cudnn/lib/libcudnn.so.9", "x");
  std::filesystem::create_symlink("lib", folder.At("venv/lib64"));
  const Environment environment = Find(folder.At("venv/"));
  EXPECT_EQ(environment.kind, EnvironmentKind::kVenv);
  EXPECT_EQ(environment.python, folder.At("python3.11"));
  EXPECT_EQ(environment.python_version, "3.11");
  const std::string site = folder.At("venv/lib/python3.11/site-packages");
  EXPECT_THAT(environment.site_packages, ElementsAre(site));
  ASSERT_TRUE(environment.torch.has_value());
  EXPECT_EQ(environment.torch->version, "2.11.0+cu130");
  EXPECT_THAT(environment.nvidia_folders,
              ElementsAre(site + "/nvidia/cu13/lib", site + "/nvidia/cudnn/lib"));
  EXPECT_THAT(environment.problems, IsEmpty());
}

TEST(LinkEnvironment, TheBasePackagesOfAVenvThatAsksForThem) {
  const TestFolder folder;
  folder.Write("base/bin/python3.11", build::DynamicElfBytes({}));
  WriteTorch(folder, "base/lib/python3.11/site-packages", "2.5.1");
  folder.Write("venv/pyvenv.cfg",
               "home = " + folder.At("base/bin") + "\ninclude-system-site-packages = true\n");
  WriteTorch(folder, "venv/lib/python3.11/site-packages", "2.6.0");
  const Environment environment = Find(folder.At("venv"));
  EXPECT_THAT(environment.site_packages, SizeIs(2));
  EXPECT_EQ(environment.torch->version, "2.6.0");
  ASSERT_THAT(environment.other_torches, SizeIs(1));
  EXPECT_EQ(environment.other_torches[0].version, "2.5.1");
}

TEST(LinkEnvironment, APythonThatIsGoneIsAProblemAndTheRestGoesOn) {
  const TestFolder folder;
  folder.Write("venv/pyvenv.cfg", "home = /nowhere/bin\n");
  std::filesystem::create_directories(folder.At("venv/bin"));
  std::filesystem::create_symlink("/nowhere/bin/python3.9", folder.At("venv/bin/python3"));
  WriteTorch(folder, "venv/lib/python3.9/site-packages", "2.4.1");
  const Environment environment = Find(folder.At("venv"));
  ASSERT_THAT(environment.problems, SizeIs(1));
  EXPECT_THAT(environment.problems[0].phrase,
              HasSubstr("leads to /nowhere/bin/python3.9, which is not there"));
  EXPECT_EQ(environment.torch->version, "2.4.1");
}

TEST(LinkEnvironment, CondaPrefixAndSitePackages) {
  const TestFolder folder;
  folder.Write("conda/conda-meta/history", "");
  folder.Write("conda/bin/python3.10", build::DynamicElfBytes({}));
  std::filesystem::create_symlink("python3.10", folder.At("conda/bin/python3"));
  WriteTorch(folder, "conda/lib/python3.10/site-packages", "2.3.1");
  EXPECT_EQ(Find(folder.At("conda")).kind, EnvironmentKind::kConda);
  const Environment site = Find(folder.At("conda/lib/python3.10/site-packages"));
  EXPECT_EQ(site.kind, EnvironmentKind::kSitePackages);
  EXPECT_EQ(site.python, folder.At("conda/bin/python3.10"));
  EXPECT_EQ(site.torch->version, "2.3.1");
  std::filesystem::remove_all(folder.At("conda/conda-meta"));
  EXPECT_EQ(Find(folder.At("conda")).kind, EnvironmentKind::kSystem);
}

TEST(LinkEnvironment, FoldersOfPathFilesAreSearchedToo) {
  const TestFolder folder;
  folder.Write("target/torch-1.dist-info/METADATA", "");
  WriteTorch(folder, "editable", "2.12.0");
  folder.Write("target/a.pth",
               "import os; os.system('x')\n# comment\n" + folder.At("editable") + "\nnowhere\n");
  const Environment environment = Find(folder.At("target"));
  EXPECT_THAT(environment.site_packages, ElementsAre(folder.At("target"), folder.At("editable")));
  EXPECT_EQ(environment.torch->version, "2.12.0");
}

TEST(LinkEnvironment, AFolderThatIsNoneIsSaid) {
  const TestFolder folder;
  folder.Write("empty/file", "");
  ASSERT_THAT(Find(folder.At("empty")).problems, SizeIs(1));
  EXPECT_THAT(Find(folder.At("empty")).problems[0].phrase, HasSubstr("expected a virtual"));
  ASSERT_THAT(Find(folder.At("nowhere")).problems, SizeIs(1));
  EXPECT_EQ(Find(folder.At("nowhere")).problems[0].code, ErrorCode::kNotFound);
}

TEST(LinkEnvironment, LibraryPathAsTheLoaderSplitsIt) {
  EXPECT_THAT(SplitLibraryPath(""), IsEmpty());
  EXPECT_THAT(SplitLibraryPath("/a:/b;/c"), ElementsAre("/a", "/b", "/c"));
  EXPECT_THAT(SplitLibraryPath(":/a:"), ElementsAre("", "/a", ""));
}

TEST(Sysroot, LinksWithAbsoluteTargetsStayInside) {
  const TestFolder folder;
  folder.Write("root/usr/lib/real/liba.so", "x");
  std::filesystem::create_symlink("/usr/lib", folder.At("root/lib"));
  std::filesystem::create_symlink("/lib/real", folder.At("root/usr/lib/link"));
  const std::string root = folder.At("root");
  EXPECT_EQ(InSysroot(root, "/lib/link/liba.so"), root + "/usr/lib/real/liba.so");
  EXPECT_EQ(InSysroot(root, "/../../lib/./real/gone"), root + "/usr/lib/real/gone");
  EXPECT_EQ(InSysroot("", "/lib/x"), "/lib/x");
  EXPECT_EQ(InSysroot(root, "relative"), "relative");
  std::filesystem::create_symlink("loop", folder.At("root/loop"));
  EXPECT_EQ(InSysroot(root, "/loop/x"), root + "/loop/x");
}

TEST(SystemLibraries, FoldersOfTheLoaderThatIsThere) {
  using namespace std::string_literals;
  std::vector<Error> problems;
  const TestFolder folder;
  folder.Write("debian/lib64/ld-linux-x86-64.so.2",
               "\0/lib/x86_64-linux-gnu/\0/usr/lib/x86_64-linux-gnu/\0/lib/\0/usr/lib/\0"s);
  folder.Write("fedora/lib64/ld-linux-x86-64.so.2", "\0/lib64/\0/usr/lib64/\0"s);
  folder.Write("arm/lib/ld-linux-aarch64.so.1", "x");
  SystemLibraries system = ReadSystemLibraries(folder.At("debian"), 0, problems);
  EXPECT_THAT(system.default_folders, ElementsAre("/lib/x86_64-linux-gnu",
                                                  "/usr/lib/x86_64-linux-gnu", "/lib", "/usr/lib"));
  EXPECT_EQ(system.lib_token, "lib/x86_64-linux-gnu");
  system = ReadSystemLibraries(folder.At("fedora"), 0, problems);
  EXPECT_THAT(system.default_folders, ElementsAre("/lib64", "/usr/lib64"));
  EXPECT_EQ(system.lib_token, "lib64");
  system = ReadSystemLibraries(folder.At("arm"), 0, problems);
  EXPECT_EQ(system.machine, EM_AARCH64);
  EXPECT_EQ(system.platform_token, "aarch64");
  EXPECT_THAT(problems, IsEmpty());
  ReadSystemLibraries(folder.path(), 0, problems);
  EXPECT_THAT(problems, SizeIs(1));
}

TEST(SystemLibraries, ConfigurationWhereThereIsNoCache) {
  std::vector<Error> problems;
  const TestFolder folder;
  folder.Write("lib64/ld-linux-x86-64.so.2", "x");
  folder.Write("etc/ld.so.conf",
               "/opt/a # first\ninclude ld.so.conf.d/*.conf\nhwcap 1 x\n/opt/z\n");
  folder.Write("etc/ld.so.conf.d/cuda.conf", "/usr/local/cuda/lib64\ninclude /etc/ld.so.conf\n");
  folder.Write("etc/ld.so.conf.d/other.txt", "/not/read\n");
  const SystemLibraries system = ReadSystemLibraries(folder.path(), 0, problems);
  EXPECT_FALSE(system.has_cache);
  EXPECT_THAT(system.configured_folders, testing::Contains("/usr/local/cuda/lib64"));
  EXPECT_THAT(system.configured_folders, testing::Not(testing::Contains("/not/read")));
  EXPECT_EQ(system.configured_folders.front(), "/opt/a");
}

TEST(SystemLibraries, ADamagedCacheIsAProblem) {
  std::vector<Error> problems;
  const TestFolder folder;
  folder.Write("lib64/ld-linux-x86-64.so.2", "x");
  folder.Write("etc/ld.so.cache", "garbage");
  const SystemLibraries system = ReadSystemLibraries(folder.path(), 0, problems);
  EXPECT_FALSE(system.has_cache);
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_EQ(problems[0].file, folder.At("etc/ld.so.cache"));
}

}  // namespace
}  // namespace cuproof
