// Device memory whose every byte is known: parts at chosen alignments between guard bands.
#ifndef CUPROOF_OPS_TESTS_DEVICE_IMAGE_H
#define CUPROOF_OPS_TESTS_DEVICE_IMAGE_H

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cuproof/ops/tensor_list.h"

namespace cuproof::ops::test {

/// All parts lie in one allocation, so that a long list is restored and compared in one step.
/// Guards and what fills gaps are NaNs of every type: who reads them is found out, too.
class DeviceImage {
 public:
  static constexpr size_t kGuard = 4096;

  DeviceImage() = default;
  DeviceImage(const DeviceImage&) = delete;
  DeviceImage& operator=(const DeviceImage&) = delete;
  ~DeviceImage();

  /// A part at `offset` bytes behind a multiple of 256. Its number, from 0.
  int Add(const void* content, size_t bytes, size_t offset);
  /// Signalling NaNs of fp32.
  int AddPoison(size_t bytes, size_t offset = 0);
  int AddFilled(size_t bytes, unsigned char byte, size_t offset = 0);

  /// After it no part may be added.
  void Upload();
  /// As it was after Upload.
  void Restore();
  void* at(int part) const;

  /// What a part shall hold after the call; without it: what it held before.
  void Expect(int part, const void* content);
  /// Compares everything, guards included, with what is expected. NaNs of `dtype` count as equal.
  testing::AssertionResult IsAsExpected(std::optional<cuproof_ops_dtype> dtype = {}) const;
  /// Compares only what belongs to no part.
  testing::AssertionResult GuardsAreIntact() const;

  std::vector<unsigned char> Read(int part) const;
  void Write(int part, const void* content) const;

 private:
  struct Part {
    size_t begin;
    size_t bytes;
  };

  void Pad(size_t bytes);
  testing::AssertionResult CompareOnHost(cuproof_ops_dtype dtype) const;

  std::vector<Part> parts_;
  std::vector<unsigned char> content_;  // until Upload
  size_t bytes_ = 0;
  char* live_ = nullptr;
  char* initial_ = nullptr;
  char* expected_ = nullptr;  // null: as initial
};

}  // namespace cuproof::ops::test

#endif
