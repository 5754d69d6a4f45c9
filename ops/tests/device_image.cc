#include "device_image.h"

#include <cuda_runtime_api.h>

#include <cmath>
#include <cstring>
#include <string>

#include "device_helpers.h"
#include "grad/grad_reference.h"
#include "launch.h"

namespace cuproof::ops::test {
namespace {

constexpr size_t kAlignment = 256;
constexpr unsigned char kGuardBytes[2] = {0xfe, 0xff};  // a NaN of bf16, fp16, twice of fp32

std::string Where(size_t begin, size_t bytes, int part, size_t at) {
  return "part " + std::to_string(part) + " of " + std::to_string(bytes) + " bytes, byte " +
         std::to_string(static_cast<int64_t>(at) - static_cast<int64_t>(begin));
}

}  // namespace

DeviceImage::~DeviceImage() {
  (void)cudaFree(live_);
  (void)cudaFree(initial_);
  (void)cudaFree(expected_);
}

void DeviceImage::Pad(size_t bytes) {
  size_t at = content_.size();
  content_.resize(at + bytes);
  for (; at < content_.size(); ++at) content_[at] = kGuardBytes[at % 2];
}

int DeviceImage::Add(const void* content, size_t bytes, size_t offset) {
  Pad(kGuard);
  Pad((kAlignment - content_.size() % kAlignment) % kAlignment + offset);
  parts_.push_back({content_.size(), bytes});
  const auto* first = static_cast<const unsigned char*>(content);
  content_.insert(content_.end(), first, first + bytes);
  return static_cast<int>(parts_.size()) - 1;
}

int DeviceImage::AddPoison(size_t bytes, size_t offset) {
  std::vector<unsigned char> poison(bytes);
  constexpr unsigned char kSignalling[4] = {0x01, 0x00, 0xa0, 0x7f};
  for (size_t i = 0; i < bytes; ++i) poison[i] = kSignalling[i % 4];
  return Add(poison.data(), bytes, offset);
}

int DeviceImage::AddFilled(size_t bytes, unsigned char byte, size_t offset) {
  const std::vector<unsigned char> filled(bytes, byte);
  return Add(filled.data(), bytes, offset);
}

void DeviceImage::Upload() {
  Pad(kGuard);
  Pad((kAlignment - content_.size() % kAlignment) % kAlignment);
  bytes_ = content_.size();
  CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&initial_), bytes_));
  CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&live_), bytes_));
  CUDA_CHECK(cudaMemcpy(initial_, content_.data(), bytes_, cudaMemcpyHostToDevice));
  content_ = {};
  Restore();
}

void DeviceImage::Restore() {
  CUDA_CHECK(cudaMemcpy(live_, initial_, bytes_, cudaMemcpyDeviceToDevice));
  // Copies within the device do not wait.
  CUDA_CHECK(cudaDeviceSynchronize());
}

void* DeviceImage::at(int part) const { return live_ + parts_[static_cast<size_t>(part)].begin; }

void DeviceImage::Expect(int part, const void* content) {
  if (expected_ == nullptr) {
    CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&expected_), bytes_));
    CUDA_CHECK(cudaMemcpy(expected_, initial_, bytes_, cudaMemcpyDeviceToDevice));
  }
  const Part& place = parts_[static_cast<size_t>(part)];
  CUDA_CHECK(cudaMemcpy(expected_ + place.begin, content, place.bytes, cudaMemcpyHostToDevice));
}

testing::AssertionResult DeviceImage::IsAsExpected(std::optional<cuproof_ops_dtype> dtype) const {
  const char* wanted = expected_ != nullptr ? expected_ : initial_;
  const Differences found = Compare(live_, wanted, bytes_);
  if (found.words == 0) return testing::AssertionSuccess();
  if (dtype.has_value()) return CompareOnHost(*dtype);
  for (size_t p = 0; p < parts_.size(); ++p) {
    if (found.first < parts_[p].begin + parts_[p].bytes + kGuard) {
      return testing::AssertionFailure()
             << found.words << " words differ, first in or around "
             << Where(parts_[p].begin, parts_[p].bytes, static_cast<int>(p), found.first);
    }
  }
  return testing::AssertionFailure() << found.words << " words differ, first behind all parts";
}

testing::AssertionResult DeviceImage::CompareOnHost(cuproof_ops_dtype dtype) const {
  if (const auto intact = GuardsAreIntact(); !intact) return intact;
  std::vector<unsigned char> wanted(bytes_);
  CUDA_CHECK(cudaMemcpy(wanted.data(), expected_ != nullptr ? expected_ : initial_, bytes_,
                        cudaMemcpyDeviceToHost));
  const size_t size = dtype == CUPROOF_OPS_F32 ? 4 : 2;
  for (size_t p = 0; p < parts_.size(); ++p) {
    const auto got = Read(static_cast<int>(p));
    const unsigned char* want = wanted.data() + parts_[p].begin;
    for (size_t at = 0; at + size <= got.size(); at += size) {
      if (std::memcmp(got.data() + at, want + at, size) == 0) continue;
      const auto index = static_cast<int64_t>(at / size);
      const uint32_t got_bits = reference::ElementBits(got.data(), dtype, index);
      const uint32_t want_bits = reference::ElementBits(want, dtype, index);
      if (std::isnan(reference::ToFloat(got_bits, dtype)) &&
          std::isnan(reference::ToFloat(want_bits, dtype))) {
        continue;
      }
      return testing::AssertionFailure() << "part " << p << ", element " << index << std::hex
                                         << ": got 0x" << got_bits << ", expected 0x" << want_bits;
    }
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult DeviceImage::GuardsAreIntact() const {
  std::vector<unsigned char> got(bytes_);
  CUDA_CHECK(cudaMemcpy(got.data(), live_, bytes_, cudaMemcpyDeviceToHost));
  size_t at = 0;
  for (size_t p = 0; p <= parts_.size(); ++p) {
    const size_t end = p < parts_.size() ? parts_[p].begin : bytes_;
    for (; at < end; ++at) {
      if (got[at] == kGuardBytes[at % 2]) continue;
      return testing::AssertionFailure() << "guard written, " << end - at
                                         << " bytes before the end of the band before part " << p;
    }
    if (p < parts_.size()) at = parts_[p].begin + parts_[p].bytes;
  }
  return testing::AssertionSuccess();
}

std::vector<unsigned char> DeviceImage::Read(int part) const {
  std::vector<unsigned char> bytes(parts_[static_cast<size_t>(part)].bytes);
  CUDA_CHECK(cudaMemcpy(bytes.data(), at(part), bytes.size(), cudaMemcpyDeviceToHost));
  return bytes;
}

void DeviceImage::Write(int part, const void* content) const {
  CUDA_CHECK(cudaMemcpy(at(part), content, parts_[static_cast<size_t>(part)].bytes,
                        cudaMemcpyHostToDevice));
  // Small copies may still be on their way.
  CUDA_CHECK(cudaDeviceSynchronize());
}

}  // namespace cuproof::ops::test
