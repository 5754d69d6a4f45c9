#include "rule/log_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bytes/embedded.h"
#include "target/table.h"

namespace cuproof {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(LogWords, TheSpecialRowComesFirst) {
  const auto found = MatchLog(
      "Traceback\n"
      "ImportError: libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version "
      "libnvJitLink.so.12\n"
      "ImportError: a.so: undefined symbol: _Zf\n"
      "ImportError: b.so: undefined symbol: _Zg\n");
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].finding, "CP303");
  EXPECT_EQ(found[0].line, 2u);
  EXPECT_EQ(found[1].finding, "CP201");
  EXPECT_EQ(found[1].count, 2u);
}

TEST(LogWords, AStarIsFilledIn) {
  const auto found = MatchLog(
      "\x1b[31mauditwheel: error: cannot repair\x1b[0m\r\n"
      "Cannot repair wheel, because required library \"libcudart.so.13\" could not be located\r\n");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].fix, HasSubstr("--exclude 'libcudart.so.13'"));
  EXPECT_THAT(MatchLog("\x1b[1mno kernel \x1b[0mimage is available for execution on the device"),
              SizeIs(1));
}

TEST(LogWords, NothingIsMadeOfOtherLogs) {
  EXPECT_THAT(MatchLog(""), IsEmpty());
  EXPECT_THAT(MatchLog("\n\n"), IsEmpty());
  EXPECT_THAT(MatchLog("kernel image available\nundefined symbols are allowed\nfile too long\n"),
              IsEmpty());
  EXPECT_THAT(MatchLog(std::string(1 << 20, '\x1b') + "file too short"), IsEmpty());
  EXPECT_THAT(MatchLog(std::string("\0\0\x1b[", 4)), IsEmpty());
}

TEST(LogWords, EachFindingHasAPage) {
  const Table& table = Table::Get("error_words");
  for (size_t i = 0; i < table.size(); ++i) {
    const std::string_view id = table.At(i, "finding");
    const auto pages = EmbeddedPages();
    EXPECT_TRUE(id.empty() ||
                std::any_of(pages.begin(), pages.end(),
                            [&](const EmbeddedText& page) { return page.name == id; }))
        << id;
    EXPECT_FALSE(table.At(i, "words").empty());
  }
}

}  // namespace
}  // namespace cuproof
