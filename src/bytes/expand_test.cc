#include "bytes/expand.h"

#include <gtest/gtest.h>

#include <string>

#include "build_fatbin.h"

namespace cuproof {
namespace {

std::string Pattern(size_t size) {
  std::string text;
  for (uint64_t i = 0; text.size() < size; ++i) {
    text += "line " + std::to_string(i * i * 7919 % 100'003) + '\n';
  }
  text.resize(size);
  return text;
}

std::string Expanded(Compression compression, const std::string& stored, uint64_t raw_size) {
  const auto raw = Expand(compression, ByteView(stored), raw_size);
  return raw ? std::string(raw->view().Text()) : "error: " + raw.error().Text();
}

ErrorCode CodeOf(Compression compression, const std::string& stored, uint64_t raw_size) {
  const auto raw = Expand(compression, ByteView(stored), raw_size);
  EXPECT_FALSE(raw.ok());
  return raw.ok() ? ErrorCode::kUsage : raw.error().code;
}

class Expansion : public testing::TestWithParam<Compression> {
 protected:
  static std::string Pack(const std::string& raw) {
    return GetParam() == Compression::kZstd ? build::Zstd(raw) : build::Lz4Block(raw);
  }
};

TEST_P(Expansion, GivesBackTheBytes) {
  for (const size_t size : {size_t{1}, size_t{100}, size_t{70'000}, size_t{1'000'000}}) {
    const std::string raw = Pattern(size);
    EXPECT_EQ(Expanded(GetParam(), Pack(raw), size), raw) << size;
  }
  const std::string noise = build::Noise(5000);
  EXPECT_EQ(Expanded(GetParam(), Pack(noise), noise.size()), noise);
}

TEST_P(Expansion, DemandsTheSizeThatTheHeaderSays) {
  const std::string raw = Pattern(4096);
  const std::string stored = Pack(raw);
  EXPECT_EQ(CodeOf(GetParam(), stored, 4095), ErrorCode::kBadCompressed);
  EXPECT_EQ(CodeOf(GetParam(), stored, 4097), ErrorCode::kBadCompressed);
  EXPECT_EQ(CodeOf(GetParam(), stored, 0), ErrorCode::kBadCompressed);
}

TEST_P(Expansion, EveryTruncationIsDamage) {
  const std::string raw = Pattern(600);
  const std::string stored = Pack(raw);
  for (size_t size = 0; size < stored.size(); ++size) {
    EXPECT_EQ(CodeOf(GetParam(), stored.substr(0, size), raw.size()), ErrorCode::kBadCompressed)
        << size;
  }
}

TEST_P(Expansion, EveryFlippedByteIsDamageOrOtherBytesOfTheSameSize) {
  const std::string raw = Pattern(600);
  const std::string stored = Pack(raw);
  for (size_t at = 0; at < stored.size(); ++at) {
    std::string bad = stored;
    bad[at] = static_cast<char>(~bad[at]);
    const auto got = Expand(GetParam(), ByteView(bad), raw.size());
    EXPECT_TRUE(!got || got->view().size() == raw.size()) << at;
  }
}

TEST_P(Expansion, ClaimsPastTheBoundsAreRefusedBeforeMemoryIsTaken) {
  const std::string stored = Pack(Pattern(4096));
  EXPECT_EQ(CodeOf(GetParam(), stored, kMaxExpanded + 1), ErrorCode::kTooLarge);
  EXPECT_EQ(CodeOf(GetParam(), stored, UINT64_MAX), ErrorCode::kTooLarge);
  EXPECT_EQ(CodeOf(GetParam(), stored, kAnyRatioUpTo + 1), ErrorCode::kTooLarge);
  EXPECT_EQ(CodeOf(GetParam(), "", kAnyRatioUpTo + 1), ErrorCode::kTooLarge);
}

// `__device__ int table[1 << 22] = {1}`.
TEST_P(Expansion, AnImageThatIsMostlyZeroMayHaveAnyRatio) {
  const std::string raw = '\1' + std::string(4 << 20, '\0');
  const std::string stored = Pack(raw);
  EXPECT_EQ(Expanded(GetParam(), stored, raw.size()) == raw, true);
}

TEST_P(Expansion, APrefixIsTheFirstBytes) {
  const std::string raw = Pattern(300'000);
  const std::string stored = Pack(raw);
  for (const uint64_t limit : {uint64_t{1}, uint64_t{64}, uint64_t{65'537}, uint64_t{300'000}}) {
    EXPECT_EQ(ExpandPrefix(GetParam(), ByteView(stored), limit).view().Text(), raw.substr(0, limit))
        << limit;
  }
  // More than there is: all of it.
  EXPECT_EQ(ExpandPrefix(GetParam(), ByteView(stored), 400'000).view().Text(), raw);
}

TEST_P(Expansion, APrefixOfDamagedBytesIsWhatCameBefore) {
  const std::string raw = Pattern(3000);
  const std::string stored = Pack(raw);
  for (size_t size = 0; size <= stored.size(); ++size) {
    const Buffer got = ExpandPrefix(GetParam(), ByteView(stored).Clamp(0, size), 64);
    EXPECT_LE(got.view().size(), 64u);
    EXPECT_EQ(got.view().Text(), raw.substr(0, got.view().size())) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, Expansion,
                         testing::Values(Compression::kZstd, Compression::kLz4Block),
                         [](const auto& instance) {
                           return std::string(CompressionName(instance.param));
                         });

TEST(Expand, AZstdFrameThatSaysAnotherSizeIsDamageThatNamesBoth) {
  const std::string stored = build::Zstd(Pattern(4096));
  EXPECT_EQ(Expanded(Compression::kZstd, stored, 5000),
            "error: the zstd frame says 4096 bytes, the entry header 5000");
}

TEST(Expand, AZstdFrameNeedNotSayItsSize) {
  const std::string raw = Pattern(4096);
  EXPECT_EQ(Expanded(Compression::kZstd, build::ZstdWithoutSize(raw), 4096), raw);
  EXPECT_EQ(CodeOf(Compression::kZstd, build::ZstdWithoutSize(raw), 4000),
            ErrorCode::kBadCompressed);
}

TEST(Expand, BytesBehindAZstdFrameAreDamage) {
  const std::string raw = Pattern(1000);
  EXPECT_EQ(CodeOf(Compression::kZstd, build::Zstd(raw) + "more", 1000), ErrorCode::kBadCompressed);
}

TEST(Expand, PlainBytesAreCopied) {
  EXPECT_EQ(Expanded(Compression::kNone, "plain", 5), "plain");
  EXPECT_EQ(CodeOf(Compression::kNone, "plain", 6), ErrorCode::kBadCompressed);
  EXPECT_EQ(ExpandPrefix(Compression::kNone, ByteView("plain"), 3).view().Text(), "pla");
  EXPECT_EQ(ExpandPrefix(Compression::kNone, ByteView("plain"), 99).view().Text(), "plain");
  EXPECT_TRUE(ExpandPrefix(Compression::kNone, ByteView(), 99).view().empty());
}

TEST(Expand, Lz4FramesAreListedNotExpanded) {
  EXPECT_EQ(CodeOf(Compression::kLz4Frame, "anything", 8), ErrorCode::kUnsupported);
  EXPECT_TRUE(ExpandPrefix(Compression::kLz4Frame, ByteView("anything"), 8).view().empty());
}

TEST(Expand, AfterADamagedFrameTheNextOneIsReadAsIfAlone) {
  const std::string raw = Pattern(4096);
  const std::string stored = build::Zstd(raw);
  EXPECT_EQ(CodeOf(Compression::kZstd, stored.substr(0, 40), 4096), ErrorCode::kBadCompressed);
  EXPECT_LE(ExpandPrefix(Compression::kZstd, ByteView(stored).Clamp(0, 30), 64).view().size(), 64u);
  EXPECT_EQ(Expanded(Compression::kZstd, stored, 4096), raw);
}

TEST(ReadZstdFrame, GivesItsExtentAndRawSize) {
  const std::string frame = build::Zstd(Pattern(4096));
  const std::string text = frame + build::Noise(100);
  const auto read = ReadZstdFrame(ByteView(text));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->stored_size, frame.size());
  EXPECT_EQ(read->raw_size, 4096u);
}

TEST(ReadZstdFrame, IsNoneWhenCutWithoutSizeOrOtherBytes) {
  const std::string frame = build::Zstd(Pattern(4096));
  EXPECT_FALSE(ReadZstdFrame(ByteView(frame).Clamp(0, frame.size() - 1)));
  EXPECT_FALSE(ReadZstdFrame(ByteView(frame).Clamp(0, 5)));
  EXPECT_FALSE(ReadZstdFrame(ByteView("not a frame at all")));
  EXPECT_FALSE(ReadZstdFrame(ByteView()));
  const std::string unsized = build::ZstdWithoutSize(Pattern(4096));
  EXPECT_FALSE(ReadZstdFrame(ByteView(unsized)));
}

TEST(Buffer, ShrinksAndNeverGrows) {
  Buffer buffer(8);
  buffer.Shrink(20);
  EXPECT_EQ(buffer.view().size(), 8u);
  buffer.Shrink(3);
  EXPECT_EQ(buffer.view().size(), 3u);
}

}  // namespace
}  // namespace cuproof
