#include "trace/ring_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/test_run.h"

namespace cuproof::trace {
namespace {

using test::Launch;
using test::RingBytes;

TEST(RingFile, CountsAndCallsAreRead) {
  RingBytes bytes(70);
  bytes.Add(1, Op::kLaunchKernel, Launch(3, 1100));
  bytes.Add(1, Op::kLaunchKernelEx, Launch(3, 1200));
  bytes.Add(0, Op::kMemcpy);
  const auto file = ReadRingFile(ByteView(bytes.bytes()));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->pid, 70u);
  EXPECT_EQ(file->launches[3], 2u);
  ASSERT_EQ(file->calls.size(), 3u);
  EXPECT_EQ(file->calls[0].thread, 0u) << "ring 0 belongs to no thread";
  EXPECT_EQ(file->calls[1].thread, 71u);
  EXPECT_EQ(file->calls[2].record.clock, 1200u);
  EXPECT_EQ(file->rings[1].op_counts[static_cast<size_t>(Op::kLaunchKernelEx)], 1u);
}

TEST(RingFile, OfAWrappedRingTheLastRecordsAreKeptAndTheCountsAreExact) {
  RingBytes bytes(70);
  for (uint64_t i = 0; i < 21; ++i) bytes.Add(1, Op::kLaunchKernel, Launch(1, i));
  const auto file = ReadRingFile(ByteView(bytes.bytes()));
  ASSERT_TRUE(file);
  ASSERT_EQ(file->calls.size(), 8u);
  EXPECT_EQ(file->calls.front().record.clock, 13u);
  EXPECT_EQ(file->calls.back().record.clock, 20u);
  EXPECT_EQ(file->rings[1].overwritten, 13u);
  EXPECT_EQ(file->launches[1], 21u);
}

TEST(RingFile, ARecordThatIsBeingWrittenIsLeftOut) {
  RingBytes bytes(70);
  for (uint64_t i = 0; i < 3; ++i) bytes.Add(1, Op::kLaunchKernel, Launch(1, i));
  bytes.Put(bytes.RecordAt(1, 1), uint32_t{0});
  const auto file = ReadRingFile(ByteView(bytes.bytes()));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->calls.size(), 2u);
  EXPECT_EQ(file->rings[1].torn, 1u);
}

TEST(RingFile, CutShortAtEveryPageNothingIsReadPastTheEnd) {
  RingBytes bytes(70, 2, 8);
  for (uint64_t i = 0; i < 8; ++i) bytes.Add(1, Op::kLaunchKernel, Launch(1, i));
  const std::string& whole = bytes.bytes();
  for (size_t size = 0; size < whole.size(); size += 32) {
    const std::string part = whole.substr(0, size);  // its own allocation: sanitizers see the end
    const auto file = ReadRingFile(ByteView(part));
    ASSERT_EQ(file.ok(), size >= kHeaderBytes) << size;
    if (file) {
      EXPECT_FALSE(file->problems.empty()) << size;
    }
  }
  EXPECT_TRUE(ReadRingFile(ByteView(whole))->problems.empty());
}

TEST(RingFile, HeadersThatCannotBeAreErrors) {
  const auto code_with = [](auto change) {
    RingBytes bytes(70);
    change(bytes);
    const auto file = ReadRingFile(ByteView(bytes.bytes()));
    return file ? ErrorCode::kUsage : file.error().code;
  };
  EXPECT_EQ(code_with([](RingBytes& b) { b.Put(0, uint64_t{0}); }), ErrorCode::kBadMagic);
  EXPECT_EQ(code_with([](RingBytes& b) { b.Put(offsetof(FileHeader, version), 2u); }),
            ErrorCode::kUnsupported);
  for (const uint32_t records : {0u, 3u, 1u << 31, UINT32_MAX}) {
    EXPECT_EQ(code_with([&](RingBytes& b) { b.Put(offsetof(FileHeader, records), records); }),
              ErrorCode::kBadSize);
  }
  for (const uint64_t apart : {uint64_t{0}, uint64_t{4096}, UINT64_MAX, uint64_t{1} << 63}) {
    EXPECT_EQ(code_with([&](RingBytes& b) { b.Put(offsetof(FileHeader, ring_bytes), apart); }),
              ErrorCode::kBadSize);
  }
}

TEST(RingFile, CountsThatLieEndAtTheEndOfTheFile) {
  RingBytes bytes(70);
  bytes.Put(offsetof(FileHeader, rings), UINT32_MAX);
  bytes.PutRing(1, offsetof(RingHeader, head), UINT64_MAX);
  const auto file = ReadRingFile(ByteView(bytes.bytes()));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->rings.size(), 2u);
  EXPECT_TRUE(file->calls.empty());
  EXPECT_EQ(file->rings[1].torn, 8u);
  EXPECT_EQ(file->problems.size(), 1u);
}

TEST(RingFile, CountersThatContradictOneAnotherAreDamage) {
  const auto damaged = [](auto change) {
    RingBytes bytes(70);
    for (uint32_t i = 0; i < 30; ++i) bytes.Add(1, Op::kLaunchKernel, Launch(i % 3, i));
    bytes.Add(1, Op::kMemcpy);
    change(bytes);
    return ReadRingFile(ByteView(bytes.bytes()))->rings[1].damaged;
  };
  const auto op = offsetof(RingHeader, op_counts) + 8 * static_cast<size_t>(Op::kLaunchKernel);
  EXPECT_FALSE(damaged([](RingBytes&) {}));
  EXPECT_FALSE(damaged([&](RingBytes& b) { b.PutRing(1, op, uint64_t{29}); }))
      << "killed while it counted";
  EXPECT_TRUE(damaged([&](RingBytes& b) { b.PutRing(1, op, uint64_t{300}); }));
  EXPECT_TRUE(damaged([&](RingBytes& b) { b.PutRing(1, op, UINT64_MAX); }));
  EXPECT_TRUE(damaged([](RingBytes& b) {
    b.PutRing(1, offsetof(RingHeader, launches) + 8 * 77, uint64_t{1} << 60);
  }));
  EXPECT_TRUE(damaged([](RingBytes& b) { b.PutRing(1, offsetof(RingHeader, head), uint64_t{5}); }));
}

TEST(OpName, EachOpHasOne) {
  for (uint16_t op = 1; op <= static_cast<uint16_t>(Op::kFunctionSetAttribute); ++op) {
    EXPECT_STRNE(OpName(static_cast<Op>(op)), OpName(Op::kNone)) << op;
  }
}

}  // namespace
}  // namespace cuproof::trace
