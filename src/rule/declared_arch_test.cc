#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rule/test_check.h"

namespace cuproof {
namespace {

using build::Entry;
using build::Fatbin;
using build::Ptx;
using build::Sass;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Finding> Find(const std::string& path, const std::vector<Entry>& entries,
                          std::vector<std::string> declared = {}) {
  Report report = JudgedFiles({{path, build::SharedObject(Fatbin(entries))}}, {});
  report.files[0].declared_archs = std::move(declared);
  return Findings(RuleDeclaredArch, report);
}

// Report R07: a build dropped an architecture that it did not know.
TEST(DeclaredArch, ANameThatNothingInTheFileServesIsAWarning) {
  const auto findings = Find("pkg/kernels_sm103a.so", {Sass({80, 0}), Sass({90, 'a'})});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].id, "CP108");
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_EQ(findings[0].subject, "sm_103a");
  EXPECT_THAT(Joined(findings[0].evidence), HasSubstr("it holds sm_80 sm_90a"));
}

TEST(DeclaredArch, ANameIsServedByItsNumberWithAnySuffixOrByLowerPtx) {
  EXPECT_THAT(Find("flash_sm90.so", {Sass({90, 'a'})}), IsEmpty());
  EXPECT_THAT(Find("flash_sm90a.so", {Sass({90, 0})}), IsEmpty());
  EXPECT_THAT(Find("flash_sm_100f.so", {Ptx({100, 0}, {8, 6})}), IsEmpty());
  EXPECT_THAT(Find("flash_sm90.so", {Ptx({80, 0}, {8, 0})}), IsEmpty());
  EXPECT_THAT(Find("thor_sm101.so", {Sass({110, 0})}), IsEmpty());
  EXPECT_EQ(Find("flash_sm90.so", {Ptx({80, 'a'}, {8, 0})}).size(), 1u);
  EXPECT_EQ(Find("flash_sm89.so", {Sass({80, 0})}).size(), 1u);
  EXPECT_EQ(Find("flash_sm80.so", {Ptx({90, 0}, {8, 0})}).size(), 1u);
}

TEST(DeclaredArch, OnlyWholeWordsAndRealArchitecturesCount) {
  for (const char* path : {"libsm2.so", "prism90.so", "sm90x.so", "wasm80.so", "sm1234.so", "sm.so",
                           "sm_.so", "SM90.so", "pkg_sm90/libx.so", "sm90-1.0.whl!libx.so",
                           "libx.so", "asm_86_64.so", "sm3.so"}) {
    EXPECT_THAT(Find(path, {Sass({80, 0})}), IsEmpty()) << path;
  }
}

TEST(DeclaredArch, EachOfSeveralNames) {
  EXPECT_EQ(Find("x_sm90_sm100.so", {Sass({80, 0})}).size(), 2u);
  EXPECT_EQ(Find("x_sm80_sm100.so", {Sass({80, 0})}).size(), 1u);
}

TEST(DeclaredArch, AFileWithoutImagesSaysNothing) {
  const Report report = JudgedFiles({{"x_sm90.so", build::HostElfBytes({})}}, {});
  EXPECT_THAT(Findings(RuleDeclaredArch, report), IsEmpty());
}

TEST(DeclaredArch, WhatTheMetadataDeclaresMustBeThere) {
  EXPECT_THAT(Find("x.so", {Sass({80, 0}), Sass({90, 'a'})}, {"8.0", "9.0a"}), IsEmpty());
  EXPECT_THAT(Find("x.so", {Sass({90, 0}), Ptx({90, 0}, {9, 0})}, {"9.0+PTX"}), IsEmpty());
  const auto findings = Find("x.so", {Sass({80, 0}), Sass({90, 'a'})}, {"8.0", "9.0a", "10.3a"});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_EQ(findings[0].message,
            "the metadata.json beside it declares sm_103a, which it does not hold");
  EXPECT_EQ(Find("x.so", {Sass({90, 0})}, {"9.0+PTX"}).at(0).subject, "compute_90");
}

TEST(DeclaredArch, MetadataThatMeansNothingSaysNothing) {
  EXPECT_THAT(Find("x.so", {Sass({80, 0})}, {"", "+PTX", "x", "all", "9", "-1.0"}), IsEmpty());
}

}  // namespace
}  // namespace cuproof
