#include "symbol/nearest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuproof {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

ExportIndex Index(const std::vector<const char*>& names) {
  ExportIndex index;
  for (uint32_t i = 0; i < names.size(); ++i) index.AddName(names[i], i);
  return index;
}

TEST(Nearest, AParameterThatChangedItsType) {
  const ExportIndex index =
      Index({"_ZN3c104cuda9SetDeviceEa", "_ZN3c104cuda29c10_cuda_check_implementationEiPKcS2_jb"});
  const auto near = index.Nearest("_ZN3c104cuda29c10_cuda_check_implementationEiPKcS2_ib");
  ASSERT_THAT(near, SizeIs(1));
  EXPECT_EQ(near[0].where, 1u);
  EXPECT_EQ(near[0].nearest.difference, NameDifference::kParameters);
  EXPECT_EQ(near[0].nearest.Sentence(),
            "wants c10::cuda::c10_cuda_check_implementation(…, char const*, int, bool), "
            "has …(…, char const*, unsigned int, bool)");
}

TEST(Nearest, AParameterThatWasAdded) {
  const auto near = Index({"_ZN3c104cuda9SetDeviceEab"}).Nearest("_ZN3c104cuda9SetDeviceEa");
  ASSERT_THAT(near, SizeIs(1));
  EXPECT_EQ(near[0].nearest.Sentence(),
            "wants c10::cuda::SetDevice(signed char), has …(signed char, bool)");
  EXPECT_FALSE(near[0].nearest.has_parts[0].differs);
  EXPECT_TRUE(near[0].nearest.has_parts[1].differs);
}

TEST(Nearest, TheOtherStringOfTheSameFunctionComesFirst) {
  const ExportIndex index = Index(
      {"_ZN3c105ErrorC2ENS_14SourceLocationEi",
       "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"});
  const auto near = index.Nearest("_ZN3c105ErrorC2ENS_14SourceLocationESs");
  ASSERT_THAT(near, SizeIs(2));
  EXPECT_EQ(near[0].where, 1u);
  EXPECT_EQ(near[0].nearest.difference, NameDifference::kStringAbi);
}

TEST(Nearest, ATagAloneIsTheStringAbi) {
  const auto near = Index({"_ZN3c104nameB5cxx11Ei"}).Nearest("_ZN3c104nameEi");
  ASSERT_THAT(near, SizeIs(1));
  EXPECT_EQ(near[0].nearest.difference, NameDifference::kStringAbi);
  EXPECT_EQ(near[0].nearest.Sentence(), "wants c10::name(int), has c10::name[abi:cxx11](int)");
}

TEST(Nearest, OptionalOfTorchAgainstThatOfTheLibrary) {
  const auto near = Index({"_ZN2at4_ops9_pad_enum4callERKNS_6TensorESt8optionalIdE"})
                        .Nearest("_ZN2at4_ops9_pad_enum4callERKNS_6TensorEN3c108optionalIdEE");
  ASSERT_THAT(near, SizeIs(1));
  EXPECT_EQ(near[0].nearest.difference, NameDifference::kOptional);
}

TEST(Nearest, AFunctionThatMovedToAnotherScope) {
  const auto near = Index({"_ZN5torch9new_scope3fooEi"}).Nearest("_ZN5torch9old_scope3fooEi");
  ASSERT_THAT(near, SizeIs(1));
  EXPECT_EQ(near[0].nearest.difference, NameDifference::kScope);
}

TEST(Nearest, NothingForOtherFunctionsAndOtherLanguages) {
  const ExportIndex index = Index({"_ZN3c104cuda9SetDeviceEa", "cudaMalloc"});
  EXPECT_THAT(index.Nearest("_ZN3c104cuda9GetDeviceEa"), IsEmpty());
  EXPECT_THAT(index.Nearest("cudaMallo"), IsEmpty());
  EXPECT_THAT(index.Nearest("_Z"), IsEmpty());
}

TEST(Nearest, ConstOfAMemberIsASuffix) {
  const auto near = Index({"_ZNK3c104Type4kindEv"}).Nearest("_ZN3c104Type4kindEv");
  ASSERT_THAT(near, SizeIs(1));
  EXPECT_EQ(near[0].nearest.difference, NameDifference::kSuffix);
  EXPECT_EQ(near[0].nearest.Sentence(), "wants c10::Type::kind(), has …() const");
}

}  // namespace
}  // namespace cuproof
