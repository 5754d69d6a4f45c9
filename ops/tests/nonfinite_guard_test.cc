#include "cuproof/ops/nonfinite_guard.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>
#include <string>

#include "grad/grad_reference.h"
#include "launch.h"

namespace cuproof::ops::test {
namespace {

#include "nonfinite_guard_cases.inc"

struct RingContent {
  cuproof_ops_guard_ring header;
  std::vector<cuproof_ops_guard_record> records;

  std::vector<unsigned char> bytes() const {
    std::vector<unsigned char> all(sizeof(header) + records.size() * sizeof(records[0]));
    std::memcpy(all.data(), &header, sizeof(header));
    std::memcpy(all.data() + sizeof(header), records.data(), all.size() - sizeof(header));
    return all;
  }
};

/// As a program would find it: some steps done, slots with what was there before.
RingContent RingAt(uint64_t step, uint32_t capacity) {
  RingContent ring{};
  ring.header.step = step;
  ring.header.capacity = capacity;
  ring.records.resize(capacity);
  std::memset(ring.records.data(), 0x5a, capacity * sizeof(ring.records[0]));
  return ring;
}

cuproof_ops_guard_record Record(const cuproof_ops_bad_element& bad, uint64_t step, uint16_t site) {
  return {step, bad.tensor, bad.index, bad.bits, static_cast<uint16_t>(bad.dtype), site};
}

class NonfiniteGuardCases : public GpuCaseTest {};

TEST_P(NonfiniteGuardCases, MatchTheReferenceInEveryWay) {
  const Case& row = GetParam();
  const auto tensors = MakeInputs(row);
  const auto bad = reference::FirstBad(HostList(tensors).get());
  const float found = bad.tensor >= 0 ? 1 : 0;
  for (const int offset : k_offset_bytes) {
    if (IsLarge(row) && offset > 2) break;
    DeviceImage image;
    ListArrays arrays = Place(tensors, static_cast<size_t>(offset), &image);
    image.Upload();
    SetPointers(image, 0, &arrays);
    const auto list = arrays.get();
    size_t bytes = 0;
    ASSERT_EQ(cuproof_ops_nonfinite_guard_workspace(&list, &bytes), CUPROOF_OPS_OK);
    Workspace workspace(bytes);
    RingContent ring = RingAt(41, 3);
    DeviceImage outputs;
    const auto ring_bytes = ring.bytes();
    outputs.Add(ring_bytes.data(), ring_bytes.size(), 16);
    outputs.AddPoison(4, 4);
    outputs.AddPoison(sizeof(bad), 8);
    outputs.Upload();
    if (bad.tensor >= 0) {
      ring.records[0] = Record(bad, 41, 7);
      ring.header.written = 1;
    }
    ring.header.step = 42;
    outputs.Expect(0, ring.bytes().data());
    outputs.Expect(1, &found);
    outputs.Expect(2, &bad);
    for (const Launch launch : kLaunches) {
      for (const int max_ctas : k_max_ctas) {
        SCOPED_TRACE("offset " + std::to_string(offset) + ", max_ctas " + std::to_string(max_ctas) +
                     (launch == Launch::kGraph ? ", graph" : ""));
        outputs.Restore();
        workspace.Poison();
        ListArrays during_call = arrays;
        RunCall(launch, [&](cudaStream_t stream) {
          cuproof_ops_nonfinite_guard_params params{};
          params.tensors = during_call.get();
          params.ring = outputs.at(0);
          params.found_inf = static_cast<float*>(outputs.at(1));
          params.first_bad = static_cast<cuproof_ops_bad_element*>(outputs.at(2));
          params.site = 7;
          params.advance_step = 1;
          params.max_ctas = max_ctas;
          const auto status = cuproof_ops_nonfinite_guard(&params, workspace.data(), bytes, stream);
          during_call.Scramble();
          return status;
        });
        ASSERT_TRUE(outputs.IsAsExpected()) << "parts: ring, found_inf, first_bad";
        ASSERT_TRUE(workspace.GuardsAreIntact());
        ASSERT_TRUE(image.IsAsExpected()) << "the tensors are only to be read";
        if (HasFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Spec, NonfiniteGuardCases, testing::ValuesIn(kCases), CaseName);

/// One small tensor that is good or bad as the test wants, and a ring.
class NonfiniteGuard : public GpuTest {
 protected:
  static constexpr uint32_t kCapacity = 4;
  static constexpr int64_t kElements = 1000;

  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    tensor_ = {MakeTensor(CUPROOF_OPS_F32, kElements, "normal", 1)};
    arrays_ = Place(tensor_, 0, &image_);
    image_.Upload();
    SetPointers(image_, 0, &arrays_);
    ring_.AddFilled(cuproof_ops_guard_ring_bytes(kCapacity), 0xff, 0);
    ring_.Upload();
    const auto list = arrays_.get();
    ASSERT_EQ(cuproof_ops_nonfinite_guard_workspace(&list, &workspace_bytes_), CUPROOF_OPS_OK);
    workspace_ = std::make_unique<Workspace>(workspace_bytes_);
    workspace_->Poison();
    RunCall(Launch::kEager, [&](cudaStream_t stream) {
      return cuproof_ops_guard_ring_init(ring_.at(0), cuproof_ops_guard_ring_bytes(kCapacity),
                                         kCapacity, stream);
    });
  }

  cuproof_ops_status Guard(uint16_t site, bool advance, cudaStream_t stream) {
    cuproof_ops_nonfinite_guard_params params{};
    params.tensors = arrays_.get();
    params.ring = ring_.at(0);
    params.site = site;
    params.advance_step = advance ? 1 : 0;
    return cuproof_ops_nonfinite_guard(&params, workspace_->data(), workspace_bytes_, stream);
  }

  /// The tensor with a NaN at `index`; -1: good.
  void SetBad(int64_t index) {
    HostTensor now = tensor_[0];
    if (index >= 0) SetBits(&now, index, 0x7fc00000);
    image_.Write(0, now.bytes.data());
  }

  RingContent Read() const {
    const auto bytes = ring_.Read(0);
    RingContent content{};
    std::memcpy(&content.header, bytes.data(), sizeof(content.header));
    content.records.resize(kCapacity);
    std::memcpy(content.records.data(), bytes.data() + sizeof(content.header),
                kCapacity * sizeof(content.records[0]));
    return content;
  }

  void ExpectCounts(uint64_t step, uint64_t written, uint64_t read, uint64_t dropped) const {
    const RingContent ring = Read();
    EXPECT_EQ(ring.header.step, step);
    EXPECT_EQ(ring.header.written, written);
    EXPECT_EQ(ring.header.read, read);
    EXPECT_EQ(ring.header.dropped, dropped);
    EXPECT_EQ(ring.header.capacity, kCapacity);
    EXPECT_TRUE(ring_.GuardsAreIntact());
  }

  std::vector<HostTensor> tensor_;
  DeviceImage image_;
  ListArrays arrays_;
  DeviceImage ring_;
  size_t workspace_bytes_ = 0;
  std::unique_ptr<Workspace> workspace_;
};

TEST_F(NonfiniteGuard, InitMakesAnEmptyRing) {
  ExpectCounts(0, 0, 0, 0);
  const RingContent ring = Read();
  for (const uint32_t word : ring.header.padding) EXPECT_EQ(word, 0u);
}

TEST_F(NonfiniteGuard, AFullRingKeepsItsOldestAndCountsTheDropped) {
  for (int step = 0; step < 7; ++step) {
    SetBad(100 + step);
    RunCall(Launch::kEager, [&](cudaStream_t stream) { return Guard(1, true, stream); });
  }
  ExpectCounts(7, 4, 0, 3);
  for (uint32_t slot = 0; slot < kCapacity; ++slot) {
    EXPECT_EQ(Read().records[slot].step, slot);
    EXPECT_EQ(Read().records[slot].index, 100 + slot);
  }
}

TEST_F(NonfiniteGuard, AcknowledgedSlotsAreUsedAgain) {
  for (int step = 0; step < 5; ++step) {
    SetBad(step);
    RunCall(Launch::kEager, [&](cudaStream_t stream) { return Guard(1, true, stream); });
  }
  RunCall(Launch::kEager, [&](cudaStream_t stream) {
    return cuproof_ops_guard_ring_acknowledge(ring_.at(0), 2, stream);
  });
  for (int step = 5; step < 8; ++step) {
    SetBad(step);
    RunCall(Launch::kEager, [&](cudaStream_t stream) { return Guard(1, true, stream); });
  }
  ExpectCounts(8, 6, 2, 2);
  const RingContent ring = Read();
  EXPECT_EQ(ring.records[0].step, 5u);
  EXPECT_EQ(ring.records[1].step, 6u);
  EXPECT_EQ(ring.records[2].step, 2u);
  EXPECT_EQ(ring.records[3].step, 3u);
}

TEST_F(NonfiniteGuard, AGraphCountsStepsOnTheDevice) {
  const Graph graph([&](cudaStream_t stream) { return Guard(9, true, stream); });
  EXPECT_EQ(graph.nodes(), 2u);
  for (int step = 0; step < 10; ++step) {
    SetBad(step == 3 ? 17 : step == 8 ? 999 : -1);
    graph.Replay();
  }
  ExpectCounts(10, 2, 0, 0);
  const RingContent ring = Read();
  EXPECT_EQ(ring.records[0].step, 3u);
  EXPECT_EQ(ring.records[0].index, 17);
  EXPECT_EQ(ring.records[0].site, 9);
  EXPECT_EQ(ring.records[1].step, 8u);
  EXPECT_EQ(ring.records[1].index, 999);
}

TEST_F(NonfiniteGuard, TwoSitesOfOneStep) {
  SetBad(5);
  const Graph graph([&](cudaStream_t stream) {
    const auto status = Guard(1, false, stream);
    return status != CUPROOF_OPS_OK ? status : Guard(65535, true, stream);
  });
  graph.Replay();
  graph.Replay();
  ExpectCounts(2, 4, 0, 0);
  const RingContent ring = Read();
  for (uint32_t slot = 0; slot < 4; ++slot) {
    EXPECT_EQ(ring.records[slot].step, slot / 2);
    EXPECT_EQ(ring.records[slot].site, slot % 2 == 0 ? 1 : 65535);
  }
}

TEST_F(NonfiniteGuard, NothingIsWrittenForGoodTensors) {
  const auto before = ring_.Read(0);
  RunCall(Launch::kEager, [&](cudaStream_t stream) { return Guard(1, false, stream); });
  EXPECT_EQ(ring_.Read(0), before);
}

TEST_F(NonfiniteGuard, StreamsMayShareARing) {
  SetBad(5);
  constexpr int kStreams = 4;
  constexpr int kCalls = 50;
  std::vector<cudaStream_t> streams(kStreams);
  std::vector<std::unique_ptr<Workspace>> workspaces;
  for (cudaStream_t& stream : streams) {
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    workspaces.push_back(std::make_unique<Workspace>(workspace_bytes_));
    workspaces.back()->Poison();
  }
  for (int call = 0; call < kCalls; ++call) {
    for (size_t s = 0; s < kStreams; ++s) {
      cuproof_ops_nonfinite_guard_params params{};
      params.tensors = arrays_.get();
      params.ring = ring_.at(0);
      params.site = static_cast<uint16_t>(s);
      params.advance_step = 1;
      ASSERT_EQ(
          cuproof_ops_nonfinite_guard(&params, workspaces[s]->data(), workspace_bytes_, streams[s]),
          CUPROOF_OPS_OK);
    }
  }
  CUDA_CHECK(cudaDeviceSynchronize());
  ExpectCounts(kStreams * kCalls, kCapacity, 0, kStreams * kCalls - kCapacity);
  for (const auto& record : Read().records) {
    EXPECT_EQ(record.index, 5);
    EXPECT_LT(record.site, kStreams);
  }
  for (cudaStream_t stream : streams) CUDA_CHECK(cudaStreamDestroy(stream));
}

TEST(GuardRing, Bytes) {
  EXPECT_EQ(cuproof_ops_guard_ring_bytes(0), 0u);
  EXPECT_EQ(cuproof_ops_guard_ring_bytes(1), 96u);
  EXPECT_EQ(cuproof_ops_guard_ring_bytes(1u << 20), 64 + (size_t{32} << 20));
  EXPECT_EQ(cuproof_ops_guard_ring_bytes((1u << 20) + 1), 0u);
  EXPECT_EQ(sizeof(cuproof_ops_guard_ring), 64u);
  EXPECT_EQ(sizeof(cuproof_ops_guard_record), 32u);
}

}  // namespace
}  // namespace cuproof::ops::test
