#include "torch/history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <string>

namespace cuproof {
namespace {

struct Row {
  std::string name;
  uint8_t abi;
  uint32_t releases;
};

void Append(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

/// A history of three releases: 2.5.0 and 2.6.0 of the old ABI, 2.7.0 of the new.
std::string Build(const std::vector<Row>& rows) {
  std::string out = "CPTS";
  Append(out, 1, 2);
  Append(out, 3, 2);
  Append(out, rows.size(), 4);
  Append(out, rows.size(), 2);
  Append(out, 0, 2);
  for (const auto& [minor, abi] : std::array<std::pair<int, int>, 3>{{{5, 1}, {6, 1}, {7, 2}}}) {
    for (const int field : {2, minor, 0, abi, 12, 4, 0, 0}) out.push_back(static_cast<char>(field));
  }
  std::map<uint64_t, uint16_t> sorted;
  for (size_t i = 0; i < rows.size(); ++i) {
    Append(out, rows[i].abi, 1);
    Append(out, 4, 1);
    Append(out, 0, 2);
    Append(out, rows[i].releases, 4);
    sorted[TorchFingerprint(rows[i].name)] = static_cast<uint16_t>(i);
  }
  size_t before = 0;
  for (uint64_t block = 0; block <= 256; ++block) {
    Append(out, before, 4);
    before += static_cast<size_t>(
        std::ranges::count_if(sorted, [&](const auto& row) { return row.first >> 32 == block; }));
  }
  for (uint64_t block = 0; block < 256; ++block) {
    for (const auto& row : sorted) {
      if (row.first >> 32 == block) Append(out, row.first & 0xFFFFFFFF, 4);
    }
    for (const auto& row : sorted) {
      if (row.first >> 32 == block) Append(out, row.second, 2);
    }
  }
  return out;
}

const std::vector<Row> kRows = {{"always", 0, 0b111},
                                {"gone", 0, 0b011},
                                {"fresh", 0, 0b100},
                                {"textSs", 1, 0b111},
                                {"text__cxx11", 2, 0b110}};

TorchRange Range(const std::string& bytes, std::vector<std::string_view> names) {
  auto history = TorchHistory::Parse(ByteView(bytes));
  EXPECT_TRUE(history.ok());
  return RangeOf(names, *history);
}

const TorchHistory& Real() { return TorchHistory::Get(); }

std::string NameOf(const TorchFit* build, const TorchHistory& history) {
  return build ? history.releases()[build->release].Name() : "none";
}

TEST(TorchHistory, FindsWhatIsThereAndNothingElse) {
  const std::string bytes = Build(kRows);
  auto history = TorchHistory::Parse(ByteView(bytes));
  ASSERT_TRUE(history.ok());
  EXPECT_EQ(history->size(), kRows.size());
  for (const Row& row : kRows) {
    const auto symbol = history->Find(row.name);
    ASSERT_TRUE(symbol) << row.name;
    EXPECT_EQ(symbol->releases, row.releases);
    EXPECT_EQ(symbol->libraries, 4);
  }
  EXPECT_FALSE(history->Find("nobody"));
  EXPECT_FALSE(history->Find(""));
}

TEST(TorchHistory, NamesOfBothAbisFitBothBuildsOfARelease) {
  const std::string bytes = Build(kRows);
  const TorchRange range = Range(bytes, {"always"});
  ASSERT_EQ(range.builds.size(), 6u);
  for (const TorchFit& build : range.builds) EXPECT_TRUE(build.fits());
  EXPECT_EQ(range.Below(), nullptr);
  EXPECT_EQ(range.Above(), nullptr);
}

TEST(TorchHistory, BoundsNameWhatTheNextReleaseLacks) {
  const std::string bytes = Build(kRows);
  const TorchRange range = Range(bytes, {"always", "gone"});
  EXPECT_EQ(range.First()->release, 0u);
  EXPECT_EQ(range.Last()->release, 1u);
  ASSERT_NE(range.Above(), nullptr);
  EXPECT_EQ(range.Above()->release, 2u);
  EXPECT_EQ(range.Above()->missing, "gone");
  const TorchRange later = Range(bytes, {"always", "fresh"});
  ASSERT_NE(later.Below(), nullptr);
  EXPECT_EQ(later.Below()->release, 1u);
  EXPECT_EQ(later.Below()->missing, "fresh");
}

TEST(TorchHistory, ANewAbiBuildOfAnOlderTorchIsNotMisread) {
  const std::string bytes = Build(kRows);
  const TorchRange range = Range(bytes, {"text__cxx11", "always"});
  // The index has 2.6.0 with old strings only, so 2.7.0 is the first there.
  EXPECT_EQ(range.First()->release, 2u);
  EXPECT_EQ(range.Below()->missing, "text__cxx11");
  // A build of 2.6.0 with new strings exports it, one of 2.5.0 does not.
  const TorchFit* first = range.First(StringAbi::kNew);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->release, 1u);
  EXPECT_FALSE(first->on_index);
  EXPECT_EQ(range.Below(StringAbi::kNew)->release, 0u);
  EXPECT_EQ(range.First(StringAbi::kOld), nullptr);
}

TEST(TorchHistory, NamesThatNoReleaseHasAreSaidAndTakeNoPart) {
  const std::string bytes = Build(kRows);
  const TorchRange range = Range(bytes, {"nobody", "always"});
  ASSERT_EQ(range.unknown.size(), 1u);
  EXPECT_EQ(range.unknown[0], "nobody");
  EXPECT_EQ(range.known, 1u);
  EXPECT_NE(range.First(), nullptr);
}

TEST(TorchHistory, NamesOfDifferentTimesFitNowhere) {
  const std::string bytes = Build(kRows);
  const TorchRange range = Range(bytes, {"gone", "fresh"});
  EXPECT_EQ(range.First(), nullptr);
  EXPECT_EQ(range.Last(), nullptr);
  EXPECT_EQ(range.Below(), nullptr);
}

TEST(TorchHistory, ShortenedAtEveryLengthIsRefused) {
  const std::string bytes = Build(kRows);
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(TorchHistory::Parse(ByteView(std::string_view(bytes).substr(0, length))).ok());
  }
}

TEST(TorchHistory, EveryByteTurnedOverIsRefusedOrReadSafely) {
  const std::string bytes = Build(kRows);
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string turned = bytes;
    turned[at] = static_cast<char>(~turned[at]);
    auto history = TorchHistory::Parse(ByteView(turned));
    if (!history) continue;
    for (const Row& row : kRows) (void)history->Find(row.name);
  }
}

TEST(TorchHistory, TheCompiledInHistoryKnowsTheNamesOfTheReports) {
  const auto only = [](std::string_view name) {
    const std::array<std::string_view, 1> names = {name};
    return RangeOf(names);
  };
  ASSERT_GE(Real().releases().size(), 15u);
  EXPECT_EQ(Real().releases()[0].Name(), "2.1.2");
  // Each a row of the public reports; the border is where the signature changed.
  const TorchRange device = only("_ZN3c104cuda9SetDeviceEi");
  EXPECT_EQ(NameOf(device.Last(), Real()), "2.2.2");
  EXPECT_EQ(NameOf(only("_ZN3c104cuda9SetDeviceEa").First(), Real()), "2.3.1");
  // Old strings up to 2.6, and the same constructor with new strings from 2.7 on.
  const TorchRange error = only("_ZN3c105ErrorC2ENS_14SourceLocationESs");
  EXPECT_EQ(NameOf(error.Last(), Real()), "2.6.0");
  EXPECT_EQ(error.Above()->missing, "_ZN3c105ErrorC2ENS_14SourceLocationESs");
  const TorchRange fresh = only(
      "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE");
  EXPECT_EQ(NameOf(fresh.First(), Real()), "2.7.1");
  EXPECT_EQ(NameOf(fresh.First(StringAbi::kNew), Real()), "2.1.2");
  EXPECT_EQ(NameOf(only("torch_call_dispatcher").First(), Real()), "2.10.0");
}

TEST(TorchHistory, ThreeHundredNamesTakeLessThanAFewMilliseconds) {
  std::vector<std::string> names;
  names.reserve(300);
  for (int i = 0; i < 300; ++i)
    names.push_back("_ZN2at4_ops3add4callERKNS_6TensorE" + std::to_string(i));
  const std::vector<std::string_view> views(names.begin(), names.end());
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(RangeOf(views).unknown.size(), 300u);
  const auto spent = std::chrono::steady_clock::now() - start;
  EXPECT_LT(std::chrono::duration_cast<std::chrono::milliseconds>(spent).count(), 20);
}

}  // namespace
}  // namespace cuproof
