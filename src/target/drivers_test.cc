#include <gtest/gtest.h>

#include <string>

#include "target/target.h"

namespace cuproof {
namespace {

Driver Found(std::string_view text) {
  const auto driver = FindDriver(text);
  EXPECT_TRUE(driver) << driver.error().Text();
  return driver ? *driver : Driver{};
}

using Parts = std::vector<uint32_t>;

TEST(FindDriver, TakesAFullNumber) {
  const Driver driver = Found("580.95.05");
  EXPECT_EQ(driver.text, "580.95.05");
  EXPECT_EQ(driver.branch, 580u);
  EXPECT_EQ(driver.parts, (Parts{580, 95, 5}));
  EXPECT_EQ(driver.cuda, (Version{13, 0}));
  EXPECT_FALSE(driver.newer_than_data);
}

TEST(FindDriver, TakesABranch) {
  for (const char* text : {"580", "r580", "R580"}) {
    const Driver driver = Found(text);
    EXPECT_EQ(driver.branch, 580u) << text;
    EXPECT_EQ(driver.parts, Parts{580}) << text;
    EXPECT_EQ(driver.cuda, (Version{13, 0})) << text;
  }
}

TEST(FindDriver, TakesNumbersOfTwoParts) {
  EXPECT_EQ(Found("570.124").cuda, (Version{12, 8}));
  EXPECT_EQ(Found("535.129").cuda, (Version{12, 2}));
  EXPECT_EQ(Found("390.157").parts, (Parts{390, 157}));
}

TEST(FindDriver, TakesACudaVersionAsTheDriverThatServesIt) {
  const Driver thirteen = Found("13.0");
  EXPECT_EQ(thirteen.cuda, (Version{13, 0}));
  EXPECT_EQ(thirteen.branch, 580u);
  EXPECT_EQ(thirteen.text, "13.0");
  const Driver twelve = Found("12.8");
  EXPECT_EQ(twelve.cuda, (Version{12, 8}));
  EXPECT_EQ(twelve.branch, 570u);
  EXPECT_EQ(Found("12").cuda, (Version{12, 0}));
}

TEST(FindDriver, ABranchThatHadNoToolkitServesItsIsa) {
  EXPECT_EQ(Found("565").cuda, (Version{12, 7}));
  EXPECT_EQ(Found("12.7").cuda, (Version{12, 7}));
}

TEST(FindDriver, ABranchBetweenTwoServesTheOlder) {
  EXPECT_EQ(Found("545.29.06").cuda, (Version{12, 3}));
  EXPECT_EQ(Found("552").cuda, (Version{12, 4}));
}

TEST(FindDriver, ABranchThatNoTableHasIsNewerThanOurData) {
  const Driver driver = Found("9999");
  EXPECT_TRUE(driver.newer_than_data);
  EXPECT_EQ(driver.branch, 9999u);
  EXPECT_GE(driver.cuda, (Version{13, 4}));
  EXPECT_TRUE(Found("14.0").newer_than_data);
  EXPECT_TRUE(Found("99").newer_than_data);
}

TEST(FindDriver, NonsenseSaysWhatWasExpected) {
  for (const char* text : {"", "r", "x", "580.", ".95", "580..05", "580.95.05.01", "580.95a",
                           "latest", "-580", "4.2", "0", "100", "13.0.1", "9999999", "5 80"}) {
    const auto driver = FindDriver(text);
    ASSERT_FALSE(driver) << text;
    EXPECT_EQ(driver.error().code, ErrorCode::kUsage);
    EXPECT_EQ(driver.error().phrase,
              "--driver: expected a driver number such as 580.95.05 or a CUDA version such as "
              "13.0, got '" +
                  std::string(text) + "'");
  }
}

TEST(FindDriver, ACudaThatNeverWasIsRefused) {
  for (const char* text : {"12.10", "11.9", "9.3"}) {
    const auto driver = FindDriver(text);
    ASSERT_FALSE(driver) << text;
    EXPECT_EQ(driver.error().phrase, std::string("--driver: there is no CUDA ") + text);
  }
  for (const char* text : {"5.0", "8.0", "12.6", "13", "99.9"})
    EXPECT_TRUE(FindDriver(text)) << text;
}

TEST(DriverName, TellsNumbersFromCudaVersions) {
  EXPECT_EQ(DriverName(Found("580.95.05")), "driver 580.95.05");
  EXPECT_EQ(DriverName(Found("r580")), "driver 580");
  EXPECT_EQ(DriverName(Found("12.6")), "a driver for CUDA 12.6");
  EXPECT_EQ(DriverName(Found("99.9")), "a driver for CUDA 99.9");
}

TEST(DriverFromCuda, NamesTheFirstBranchThatServesIt) {
  EXPECT_EQ(DriverFromCuda({13, 1}).branch, 590u);
  EXPECT_EQ(DriverFromCuda({11, 4}).branch, 470u);
  EXPECT_EQ(DriverFromCuda({12, 8}).parts, Parts{570});
}

}  // namespace
}  // namespace cuproof
