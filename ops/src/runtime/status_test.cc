#include "runtime/status.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace cuproof::ops {
namespace {

TEST(Status, Names) {
  EXPECT_STREQ(cuproof_ops_status_name(CUPROOF_OPS_OK), "CUPROOF_OPS_OK");
  EXPECT_STREQ(cuproof_ops_status_name(CUPROOF_OPS_INVALID_ARGUMENT),
               "CUPROOF_OPS_INVALID_ARGUMENT");
  EXPECT_STREQ(cuproof_ops_status_name(CUPROOF_OPS_WORKSPACE_TOO_SMALL),
               "CUPROOF_OPS_WORKSPACE_TOO_SMALL");
  EXPECT_STREQ(cuproof_ops_status_name(CUPROOF_OPS_UNSUPPORTED_DEVICE),
               "CUPROOF_OPS_UNSUPPORTED_DEVICE");
  EXPECT_STREQ(cuproof_ops_status_name(CUPROOF_OPS_CUDA_ERROR), "CUPROOF_OPS_CUDA_ERROR");
  EXPECT_STREQ(cuproof_ops_status_name(static_cast<cuproof_ops_status>(7)), "unknown status");
}

TEST(Status, TheSentenceIsOfTheLastFailure) {
  EXPECT_EQ(Fail(CUPROOF_OPS_INVALID_ARGUMENT, "%s: %d", "count", 3), CUPROOF_OPS_INVALID_ARGUMENT);
  EXPECT_STREQ(cuproof_ops_last_error(), "count: 3");
  EXPECT_EQ(Succeed(), CUPROOF_OPS_OK);
  EXPECT_STREQ(cuproof_ops_last_error(), "");
}

TEST(Status, ALongSentenceIsCut) {
  const std::string text(2000, 'x');
  EXPECT_EQ(Fail(CUPROOF_OPS_CUDA_ERROR, "%s", text.c_str()), CUPROOF_OPS_CUDA_ERROR);
  EXPECT_EQ(std::string(cuproof_ops_last_error()), text.substr(0, 511));
}

TEST(Status, AFailureOfCudaSaysWhichCall) {
  EXPECT_EQ(CheckCuda(cudaErrorInvalidValue, "cudaFoo(1)"), CUPROOF_OPS_CUDA_ERROR);
  EXPECT_STREQ(cuproof_ops_last_error(), "cudaFoo(1): cudaErrorInvalidValue (1): invalid argument");
  EXPECT_EQ(CheckCuda(cudaErrorNoDevice, "cudaFoo(1)"), CUPROOF_OPS_UNSUPPORTED_DEVICE);
  EXPECT_EQ(CheckCuda(cudaErrorInsufficientDriver, "cudaFoo(1)"), CUPROOF_OPS_UNSUPPORTED_DEVICE);
  EXPECT_EQ(CheckCuda(cudaSuccess, "cudaFoo(1)"), CUPROOF_OPS_OK);
}

TEST(Status, EachThreadHasItsOwn) {
  (void)Fail(CUPROOF_OPS_CUDA_ERROR, "mine");
  std::thread([] { EXPECT_STREQ(cuproof_ops_last_error(), ""); }).join();
  EXPECT_STREQ(cuproof_ops_last_error(), "mine");
}

}  // namespace
}  // namespace cuproof::ops
