#include "output/verdict_text.h"

#include <gtest/gtest.h>

#include "output/test_report.h"

namespace cuproof {
namespace {

TEST(OutcomeWithError, OnlyFailuresHaveOne) {
  EXPECT_EQ(OutcomeWithError(Outcome::kRunsSass, Reason::kNone), "runs");
  EXPECT_EQ(OutcomeWithError(Outcome::kDoesNotRun, Reason::kNoImage), "does not run (209)");
  EXPECT_EQ(OutcomeWithError(Outcome::kDoesNotRun, Reason::kGpuDropped), "does not run");
  EXPECT_EQ(OutcomeWithError(Outcome::kUnknown, Reason::kRuntimeTooNew), "unknown");
}

TEST(DecidedBy, NamesTheImage) {
  const FileReport file = test::MakeFile("x", {test::Cubin({90, 'a'}), test::Ptx(80, {9, 1})});
  FileVerdict verdict = test::MakeVerdict(Outcome::kRunsSass, 0);
  EXPECT_EQ(DecidedBy(file.images, verdict), "sm_90a");
  verdict.image = 1;
  EXPECT_EQ(DecidedBy(file.images, verdict), "PTX compute_80, ISA 9.1");
  verdict.reason = Reason::kNoImage;
  EXPECT_EQ(DecidedBy(file.images, verdict), "nearest: PTX compute_80, ISA 9.1");
  for (const int64_t nowhere : {int64_t{-1}, int64_t{2}, INT64_MAX}) {
    verdict.image = nowhere;
    EXPECT_EQ(DecidedBy(file.images, verdict), "");
  }
}

TEST(Floor, TextAndOrder) {
  EXPECT_EQ(FloorText({}), "");
  EXPECT_EQ(FloorText({550, "", "zstd images"}), "r550 or newer (zstd images)");
  EXPECT_EQ(FloorText({580, "580.65.06", ""}), "580.65.06 or newer");
  EXPECT_TRUE(FloorAbove({590, "590.44.01", ""}, {590, "590.9.01", ""}));
  EXPECT_TRUE(FloorAbove({580, "580.65.06", ""}, {580, "", ""}));
  EXPECT_TRUE(FloorAbove({550, "", ""}, {525, "525.60.13", ""}));
  EXPECT_FALSE(FloorAbove({}, {550, "", ""}));
}

}  // namespace
}  // namespace cuproof
