#include "symbol/demangle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuproof {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Demangle, NamesAsCompilersWriteThem) {
  EXPECT_EQ(Demangle("_ZN3c104cuda9SetDeviceEa"), "c10::cuda::SetDevice(signed char)");
  EXPECT_EQ(Demangle("cudaMalloc"), std::nullopt);
  EXPECT_EQ(Demangle("_Z"), std::nullopt);
  EXPECT_EQ(Demangle("_ZN3c10"), std::nullopt);
  EXPECT_EQ(DemangledOrSame("_ZN3c10"), "_ZN3c10");
}

TEST(Demangle, NamesThatAreTooLongAreLeft) {
  EXPECT_EQ(Demangle("_Z5000" + std::string(5000, 'a') + "v"), std::nullopt);
}

TEST(Demangle, NamesThatEndAnywhereAreSurvived) {
  const std::string name =
      "_ZZN3c106detail4callINS_4ListIJiiEEEXsr3stdE4sameEEEDTcl4declIT_EEERKDpT_PFviEMS_FviEA3_"
      "iENKUlvE"
      "_clEvCI1N1aE_onplLj5EL_Z1fvEstIiE";
  for (size_t size = 0; size <= name.size(); ++size) Demangle(name.substr(0, size));
  for (const char* text :
       {"_ZN3_ZcvNncCI", "_ZN1aCI", "_ZN1aD", "_Z1fDTon", "_Z1fILi", "_ZTC", "_ZGR"}) {
    Demangle(text);
  }
}

// Found by the fuzzer: libstdc++ does not return from it.
TEST(Demangle, NamesThatMakeADemanglerGoInCirclesAreNotGivenToIt) {
  EXPECT_EQ(Demangle("_ZaaAsrUSav"), std::nullopt);
}

// Each level names the one before twice, in a dozen letters.
TEST(Demangle, NamesThatExpandWithoutEndAreRefusedAtOnce) {
  std::string bomb = "_Z1fSt4pairIiiE";
  for (int i = 0; i < 60; ++i) {
    const std::string last =
        i == 0 ? "S0_" : "S" + std::string(1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 36]) + "_";
    bomb.append("S_I").append(last).append(last).append("E");
  }
  EXPECT_EQ(Demangle(bomb), std::nullopt);
}

TEST(SplitCxxName, AFunctionInItsParts) {
  const auto name = SplitCxxName("_ZNK3c107SymBool10guard_boolEPKcl");
  ASSERT_TRUE(name.has_value());
  EXPECT_TRUE(name->function);
  EXPECT_EQ(name->qualified, "c10::SymBool::guard_bool");
  EXPECT_THAT(name->parameters, ElementsAre("char const*", "long"));
  EXPECT_EQ(name->suffix, " const");
  EXPECT_EQ(name->return_type, "");
  EXPECT_EQ(ScopeOf(name->qualified), "c10::SymBool");
}

TEST(SplitCxxName, ATemplateHasAReturnType) {
  const CxxName name = SplitDemangled(
      "std::vector<int, std::allocator<int> > const& f<int, (A)1>(std::map<int, int>, void "
      "(*)(int, "
      "char))");
  EXPECT_EQ(name.return_type, "std::vector<int, std::allocator<int> > const&");
  EXPECT_EQ(name.qualified, "f<int, (A)1>");
  EXPECT_THAT(name.parameters, ElementsAre("std::map<int, int>", "void (*)(int, char)"));
}

TEST(SplitCxxName, OperatorsAreNoBrackets) {
  EXPECT_EQ(SplitDemangled("c10::operator<<(std::ostream&, int)").qualified, "c10::operator<<");
  EXPECT_EQ(SplitDemangled("A::operator()(int) const").qualified, "A::operator()");
  EXPECT_THAT(SplitDemangled("A::operator()(int) const").parameters, ElementsAre("int"));
  EXPECT_EQ(SplitDemangled("A::operator bool() const").qualified, "A::operator bool");
  EXPECT_EQ(SplitDemangled("c10::intrusive_ptr<T>::operator->() const").qualified,
            "c10::intrusive_ptr<T>::operator->");
  EXPECT_EQ(ScopeOf("c10::intrusive_ptr<T>::operator->"), "c10::intrusive_ptr<T>");
  EXPECT_EQ(SplitDemangled("myoperator<int>(int)").qualified, "myoperator<int>");
}

TEST(SplitCxxName, DataPrefixesAndTags) {
  const CxxName table = SplitDemangled("vtable for torch::autograd::Node");
  EXPECT_EQ(table.prefix, "vtable for");
  EXPECT_EQ(table.qualified, "torch::autograd::Node");
  EXPECT_FALSE(table.function);
  const CxxName tagged = SplitDemangled("c10::str[abi:cxx11](int)");
  EXPECT_EQ(tagged.qualified, "c10::str");
  EXPECT_THAT(tagged.tags, ElementsAre("cxx11"));
  EXPECT_THAT(SplitDemangled("f()").parameters, IsEmpty());
  EXPECT_EQ(SplitDemangled("f(int) [clone .cold]").suffix, " [clone .cold]");
  EXPECT_EQ(SplitDemangled("(anonymous namespace)::f(int)").qualified, "(anonymous namespace)::f");
}

TEST(SplitCxxName, HostileTextIsSurvived) {
  for (const char* text : {"", ")", "(", "f(", "f)", "operator", "<<<>>>", ")(", "[abi:", "a]"}) {
    SplitDemangled(text);
    ScopeOf(text);
  }
}

}  // namespace
}  // namespace cuproof
