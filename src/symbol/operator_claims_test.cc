#include "symbol/operator_claims.h"

#include <gtest/gtest.h>

namespace cuproof {
namespace {

TEST(OperatorClaims, AreTheNamesOfLibrariesNotOfFragments) {
  EXPECT_EQ(OperatorClaimOf("_ZL31TORCH_LIBRARY_static_init_myops"), "myops");
  EXPECT_EQ(OperatorClaimOf("_ZL38STABLE_TORCH_LIBRARY_static_init_myops"), "myops");
  EXPECT_EQ(OperatorClaimOf("_ZL42TORCH_LIBRARY_FRAGMENT_static_init_myops_0"), "");
  EXPECT_EQ(OperatorClaimOf("_ZL43TORCH_LIBRARY_IMPL_static_init_myops_CUDA_0"), "");
  EXPECT_EQ(OperatorClaimOf("_ZL99TORCH_LIBRARY_static_init_myops"), "");
  EXPECT_EQ(OperatorClaimOf("_ZL"), "");
  EXPECT_EQ(OperatorClaimOf("_Z3foov"), "");
  EXPECT_TRUE(OperatorClaims(ByteView(std::string_view("no ELF"))).empty());
}

}  // namespace
}  // namespace cuproof
