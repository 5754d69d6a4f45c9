#include "container/kept_members.h"

#include <gtest/gtest.h>

namespace cuproof {
namespace {

class Bytes : public UnitBytes {
 public:
  explicit Bytes(uint64_t size) : size_(size) {}
  // Nobody reads them: a claim of size is all that is kept count of.
  ByteView bytes() const override { return {&byte_, size_}; }

 private:
  uint8_t byte_ = 0;
  uint64_t size_;
};

TEST(KeptMembers, GiveBackWhatWasKeptOnce) {
  KeptMembers kept;
  const Unit one;
  const Unit other;
  kept.Keep(one, std::make_unique<Bytes>(1));
  EXPECT_EQ(kept.Take(other), nullptr);
  EXPECT_NE(kept.Take(one), nullptr);
  EXPECT_EQ(kept.Take(one), nullptr);
}

TEST(KeptMembers, ABoundOnWhatIsKept) {
  KeptMembers kept;
  const Unit units[3];
  constexpr uint64_t kTooMuch = (uint64_t{2} << 30) - 10;
  kept.Keep(units[0], std::make_unique<Bytes>(20));
  kept.Keep(units[1], std::make_unique<Bytes>(kTooMuch));
  EXPECT_EQ(kept.Take(units[1]), nullptr);
  EXPECT_NE(kept.Take(units[0]), nullptr);
  kept.Keep(units[2], std::make_unique<Bytes>(kTooMuch));
  EXPECT_NE(kept.Take(units[2]), nullptr);
}

}  // namespace
}  // namespace cuproof
