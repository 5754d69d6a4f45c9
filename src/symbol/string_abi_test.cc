#include "symbol/string_abi.h"

#include <gtest/gtest.h>

namespace cuproof {
namespace {

TEST(StringAbi, TheMarkersOfOldAndNew) {
  for (const char* old_name :
       {"_ZN3c105ErrorC2ENS_14SourceLocationESs", "_ZN5torch3jit17parseSchemaOrNameERKSs",
        "_ZN5torch3jit17parseSchemaOrNameERKSsb", "_ZN4c10d8TCPStoreC1ESsRKNS_15TCPStoreOptionsE",
        "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs", "_Z1fSt4listIiSaIiEE", "_ZNSsC1Ev",
        "_Z1fLj5ESs"}) {
    EXPECT_STREQ(StringAbiName(StringAbiOf(old_name)), "old") << old_name;
  }
  for (const char* new_name :
       {"_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        "_Z1fNSt7__cxx114listIiSaIiEE", "_ZN3c103strB5cxx11Ei"}) {
    EXPECT_STREQ(StringAbiName(StringAbiOf(new_name)), "new") << new_name;
  }
}

TEST(StringAbi, MostNamesTellNothing) {
  for (const char* name :
       {"_ZN3c104cuda9SetDeviceEa", "cudaMalloc", "", "_Z", "_ZNSolsEi", "_Z1fSt6vectorIiSaIiEE",
        "_ZN3c109SsSsSsSsSE3fooEv", "_ZN2Ss1fEv", "_ZN4list1fEv", "_ZN1a7cxx1111Ev"}) {
    EXPECT_STREQ(StringAbiName(StringAbiOf(name)), "none") << name;
  }
}

TEST(StringAbi, ANameAboutBothIsMixed) {
  EXPECT_EQ(StringAbiOf("_Z7convertNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESs"),
            StringAbi::kMixed);
}

}  // namespace
}  // namespace cuproof
