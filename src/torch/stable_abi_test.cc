#include "torch/stable_abi.h"

#include <gtest/gtest.h>

#include <vector>

namespace cuproof {
namespace {

StableAbi Of(std::vector<std::string_view> names) { return StableAbiOf(names); }

TEST(StableAbi, IsCFunctionsOfTorchAndNoneOfItsCxxOnes) {
  const StableAbi stable = Of({"malloc", "aoti_torch_get_dim", "torch_call_dispatcher"});
  EXPECT_TRUE(stable.stable);
  EXPECT_EQ(stable.floor, "2.10");
  EXPECT_EQ(stable.floor_name, "torch_call_dispatcher");
  EXPECT_EQ(Of({"torch_from_blob", "torch_call_dispatcher"}).floor, "2.11");
  EXPECT_FALSE(Of({"aoti_torch_get_dim", "_ZN3c105ErrorD1Ev"}).stable);
  EXPECT_FALSE(Of({"aoti_torch_get_dim", "_ZTIN3c105ErrorE"}).stable);
  EXPECT_FALSE(Of({"aoti_torch_get_dim", "_ZNK2at10TensorBase4sizeEv"}).stable);
  EXPECT_FALSE(Of({"malloc", "_ZN4mine3fooEv"}).stable);
  EXPECT_FALSE(Of({"torch_of_liberty"}).stable);
  EXPECT_EQ(Of({"aoti_torch_get_dim", "aoti_torch_of_2030"}).unknown, "aoti_torch_of_2030");
}

TEST(StableAbi, TargetVersionIsHexadecimal) {
  EXPECT_EQ(DecodeTorchTarget(0x020B000000000000)->Text(), "2.11.0");
  EXPECT_EQ(DecodeTorchTarget(0x0209010000000000)->Text(), "2.9.1");
  EXPECT_FALSE(DecodeTorchTarget(0).has_value());
  EXPECT_EQ(TorchTargetValue(2, 10), "0x020a000000000000");
}

// Report R53: 0x0210 is torch 2.16, though the author meant 2.10.
TEST(StableAbi, DecimalDigitsInTheTargetAreAMistake) {
  const TorchTarget target = *DecodeTorchTarget(0x0210000000000000);
  EXPECT_EQ(target.Text(), "2.16.0");
  EXPECT_EQ(MeantMinor(target), 10);
  EXPECT_FALSE(MeantMinor(*DecodeTorchTarget(0x020A000000000000)).has_value());
  EXPECT_FALSE(MeantMinor(*DecodeTorchTarget(0x0209000000000000)).has_value());
}

TEST(StableAbi, FindsTheTargetInCode) {
  const auto movabs = [](uint64_t value) {
    std::string code("\x90\x48\xB9", 3);
    for (int i = 0; i < 8; ++i) code += static_cast<char>(value >> (8 * i));
    return code + '\xC3';
  };
  const std::string one = movabs(0x020A000000000000);
  EXPECT_EQ(TorchTargetInCode(ByteView(one)), 0x020A000000000000);
  const std::string two = one + movabs(0x020B000000000000);
  EXPECT_FALSE(TorchTargetInCode(ByteView(two)).has_value());
  const std::string none = movabs(0x4000000000000000);
  EXPECT_FALSE(TorchTargetInCode(ByteView(none)).has_value());
  EXPECT_FALSE(TorchTargetInCode(ByteView(std::string_view("\0\0\0\0\0\0\0", 7))).has_value());
}

}  // namespace
}  // namespace cuproof
