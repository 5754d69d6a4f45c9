#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rule/host_environment.h"
#include "rule/report.h"

// Rules about a whole environment, on hand-made ones; tests/report_*_test.py ask the whole program.
namespace cuproof {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<Finding> Of(EnvironmentRule rule, const HostEnvironment& environment,
                        const std::vector<OperatorClaim>& claims = {}) {
  std::vector<Finding> findings;
  rule({environment, claims}, findings);
  return findings;
}

Package Installed(const std::string& name, const std::string& version) {
  Package package;
  package.name = name;
  package.version = version;
  package.folder = "site/" + name + "-" + version + ".dist-info";
  package.has_record = true;
  return package;
}

TEST(EnvironmentRules, ClaimsOfTwoPackagesAreANote) {
  const auto found =
      Of(RuleOperatorClaims, {},
         {{"ops", "one/m.so", "one"}, {"ops", "two/m.so", "two"}, {"x", "b", "one"}});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, Severity::kNote);
  EXPECT_EQ(found[0].subject, "ops");
  // Variants of one package, and files of nobody.
  EXPECT_THAT(Of(RuleOperatorClaims, {}, {{"ops", "a/m.so", "one"}, {"ops", "b/m.so", "one"}}),
              IsEmpty());
  EXPECT_THAT(Of(RuleOperatorClaims, {}, {{"ops", "a/m.so", ""}, {"ops", "b/m.so", ""}}),
              IsEmpty());
}

TEST(EnvironmentRules, TwoTorchesInOneFolderAreWorseThanOneBehindAnother) {
  HostEnvironment environment;
  environment.torch_version = "2.6.0";
  environment.packages.all = {Installed("torch", "2.6.0"), Installed("numpy", "2")};
  EXPECT_THAT(Of(RuleTwoTorches, environment), IsEmpty());
  environment.other_torches = {"torch 2.5.1 in /usr/lib/torch"};
  EXPECT_EQ(Of(RuleTwoTorches, environment).at(0).severity, Severity::kNote);
  environment.packages.all.push_back(Installed("torch", "2.5.1"));
  EXPECT_EQ(Of(RuleTwoTorches, environment).at(0).severity, Severity::kWarning);
}

TEST(EnvironmentRules, AFileOfTwoOwnersNamesBoth) {
  HostEnvironment environment;
  environment.packages.all = {Installed("nccl-cu11", "1"), Installed("nccl-cu12", "2")};
  EXPECT_THAT(Of(RuleOwnedTwice, environment), IsEmpty());
  environment.packages.owned_twice = {{"site/libnccl.so.2", {0, 1}, "nccl-cu12 2"}};
  const auto found = Of(RuleOwnedTwice, environment);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].file, "site/libnccl.so.2");
  EXPECT_THAT(found[0].evidence, SizeIs(3));
  // The packages of a distribution have no RECORD, those of pip should.
  environment.packages.owned_twice.clear();
  environment.packages.all[0].has_record = false;
  environment.packages.all[0].installer = "debian";
  EXPECT_THAT(Of(RuleOwnedTwice, environment), IsEmpty());
  environment.packages.all[0].installer = "pip";
  EXPECT_EQ(Of(RuleOwnedTwice, environment).at(0).severity, Severity::kNote);
}

TEST(EnvironmentRules, AVariantOfTheSameMajorServes) {
  HostEnvironment environment;
  environment.torch_cuda = "13.1";
  EXPECT_THAT(Of(RuleCudaVariant, environment), IsEmpty());  // no bitsandbytes
  environment.bitsandbytes = {"118", "128", "130"};
  EXPECT_EQ(Of(RuleCudaVariant, environment).at(0).fix, "export BNB_CUDA_VERSION=130");
  environment.bitsandbytes = {"118", "128"};
  EXPECT_THAT(Of(RuleCudaVariant, environment).at(0).fix, HasSubstr("install a bitsandbytes"));
  environment.torch_cuda = "12.8";
  EXPECT_THAT(Of(RuleCudaVariant, environment), IsEmpty());
}

TEST(EnvironmentRules, APartFromElsewhereIsNotAPartThatIsGone) {
  HostEnvironment environment;
  environment.foreign_parts = {
      {"libcudnn_ops.so.9", "own/libcudnn.so.9", "", ""},
      {"libcudnn_cnn.so.9", "own/libcudnn.so.9", "away/libcudnn_cnn.so.9", "LD_LIBRARY_PATH"}};
  const auto found = Of(RuleForeignParts, environment);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_THAT(found[0].message, HasSubstr("no such file is beside it"));
  EXPECT_THAT(found[1].fix, HasSubstr("unset LD_LIBRARY_PATH"));
}

}  // namespace
}  // namespace cuproof
