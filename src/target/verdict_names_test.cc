#include <gtest/gtest.h>

#include <set>
#include <string>

#include "target/verdict.h"

namespace cuproof {
namespace {

TEST(Reason, EachHasAnIdOfItsOwnAndTheErrorOfTheDriver) {
  std::set<std::string> ids;
  for (int i = 0; i <= static_cast<int>(Reason::kNewerThanData); ++i) {
    ids.insert(ReasonId(static_cast<Reason>(i)));
  }
  EXPECT_EQ(ids.size(), static_cast<size_t>(Reason::kNewerThanData) + 1);
  EXPECT_EQ(ReasonError(Reason::kNone), 0);
  EXPECT_EQ(ReasonError(Reason::kNoImage), 209);
  EXPECT_EQ(ReasonError(Reason::kPtxTooNew), 222);
  EXPECT_EQ(ReasonError(Reason::kPtxInvalid), 218);
  EXPECT_EQ(ReasonError(Reason::kPtxTarget), 218);
  EXPECT_EQ(ReasonError(Reason::kRuntimeTooNew), 35);
  EXPECT_EQ(ReasonError(Reason::kZstdOldDriver), 200);
  EXPECT_EQ(ReasonError(Reason::kLtoOnly), 209);
  EXPECT_EQ(ReasonError(Reason::kDamaged), 0);
}

TEST(Outcome, HasTextsAndIds) {
  EXPECT_STREQ(OutcomeText(Outcome::kRunsSass), "runs");
  EXPECT_STREQ(OutcomeText(Outcome::kRunsJit), "runs after JIT");
  EXPECT_STREQ(OutcomeText(Outcome::kDoesNotRun), "does not run");
  EXPECT_STREQ(OutcomeText(Outcome::kUnknown), "unknown");
  EXPECT_STREQ(OutcomeId(Outcome::kRunsSass), "sass");
  EXPECT_STREQ(OutcomeId(Outcome::kRunsJit), "jit");
  EXPECT_STREQ(OutcomeId(Outcome::kDoesNotRun), "no");
  EXPECT_STREQ(OutcomeId(Outcome::kUnknown), "unknown");
}

}  // namespace
}  // namespace cuproof
