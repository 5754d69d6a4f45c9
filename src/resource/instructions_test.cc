#include "resource/instructions.h"

#include <gtest/gtest.h>

#include "build_fatbin.h"
#include "resource/calls.h"

namespace cuproof {
namespace {

using build::Number;

// Words of ptxas 13.0, and of 12.6 for sm_61.
std::string Wide(uint64_t low, uint64_t high) { return Number(low, 8) + Number(high, 8); }

TEST(Instructions, CallsOfSm90CountFromTheNextInstruction) {
  std::string code(0x180, '\0');
  code += Wide(0xfffffffc00c47944, 0x000fea0003c3ffff);
  const auto call = CallAt(ByteView(code), 90, 0x180);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->target, 0xA0u);
  EXPECT_FALSE(call->through_register);
}

TEST(Instructions, CallsOfSm80AreInBytes) {
  std::string code(0x1D0, '\0');
  code += Wide(0xffffff1000007944, 0x001fea0003c3ffff);
  EXPECT_EQ(CallAt(ByteView(code), 80, 0x1D0)->target, 0xF0u);
}

TEST(Instructions, ACallThroughARegisterHasNoTarget) {
  const std::string code = Wide(0xfffffffc06d07344, 0x026fea0003c3ffff);
  const auto call = CallAt(ByteView(code), 90, 0);
  ASSERT_TRUE(call);
  EXPECT_TRUE(call->through_register);
  EXPECT_FALSE(CallAt(ByteView(code), 90, 16)) << "past the end";
}

TEST(Instructions, LocalAccessesHaveAWidth) {
  const std::string code = Number(0x387, 8) + Number(uint64_t{6} << 9, 8);
  const auto access = LocalAccessAt(ByteView(code), 75, 0);
  ASSERT_TRUE(access);
  EXPECT_TRUE(access->is_store);
  EXPECT_EQ(access->bytes, 16u);
  EXPECT_FALSE(LocalAccessAt(ByteView(code), 75, 8)) << "not where an instruction begins";
  EXPECT_FALSE(LocalAccessAt(ByteView(code), 30, 0)) << "instructions that are not known";
}

// A kernel, and behind it functions of one call each.
std::string CallTo(int64_t from, int64_t to) {
  const uint64_t steps = static_cast<uint64_t>((to - from - 16) / 4) & 0xFF'FFFF'FFFF'FFFF;
  return Wide(0x7944 | (steps & 0xFF) << 16 | steps >> 8 << 34, steps >> 8 >> 30 & 0x3FFFF);
}

TEST(Calls, AFunctionThatReachesItselfIsRecursive) {
  const std::vector<InnerFunction> functions = {{16, 16}, {32, 16}};
  const std::string there_and_back = CallTo(0, 16) + CallTo(16, 32) + CallTo(32, 16);
  EXPECT_TRUE(FindCalls(ByteView(there_and_back), 90, functions).recursive);
  const std::string straight = CallTo(0, 16) + CallTo(16, 32) + std::string(16, '\0');
  EXPECT_FALSE(FindCalls(ByteView(straight), 90, functions).recursive);
}

TEST(Calls, AJumpWithinAFunctionIsNoRecursion) {
  const std::string code = CallTo(0, 16) + std::string(16, '\0') + CallTo(32, 32);
  EXPECT_FALSE(FindCalls(ByteView(code), 90, {{16, 32}}).recursive);
}

}  // namespace
}  // namespace cuproof
