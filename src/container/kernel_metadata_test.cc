#include "container/kernel_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuproof {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(KernelMetadata, CudaBackendDeclaresArchs) {
  EXPECT_THAT(DeclaredArchsIn(R"({"name": "k", "backend": {"type": "cuda",
                                  "archs": ["8.0", "9.0a", "9.0+PTX"]}})"),
              ElementsAre("8.0", "9.0a", "9.0+PTX"));
}

TEST(KernelMetadata, OtherFormsDeclareNothing) {
  EXPECT_THAT(DeclaredArchsIn(R"({"backend": {"type": "rocm", "archs": ["gfx90a"]}})"), IsEmpty());
  EXPECT_THAT(DeclaredArchsIn(R"({"backend": "cuda"})"), IsEmpty());
  EXPECT_THAT(DeclaredArchsIn(R"({"backend": {"type": "cuda", "archs": [8, null]}})"), IsEmpty());
  EXPECT_THAT(DeclaredArchsIn(R"({"backend": {"archs": ["8.0"]}})"), IsEmpty());
  EXPECT_THAT(DeclaredArchsIn(R"([1, 2])"), IsEmpty());
  EXPECT_THAT(DeclaredArchsIn("{cut"), IsEmpty());
  EXPECT_THAT(DeclaredArchsIn(""), IsEmpty());
}

}  // namespace
}  // namespace cuproof
