#include "diff/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "output/diff_text.h"

namespace cuproof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Gpu> Gpus() {
  Gpu volta;
  volta.sm = 70;
  Gpu hopper;
  hopper.sm = 90;
  return {volta, hopper};
}

ReleaseFile File(const std::string& path, Cover volta, Cover hopper) {
  ReleaseFile file;
  file.path = path;
  file.key = MatchKey(path);
  file.covers = {volta, hopper};
  file.floors = {"", "525.60.13 (CUDA 12 runtime)"};
  file.bytes["sm_90"] = 1000;
  file.needed = {"libcudart.so.12"};
  return file;
}

Release Side(std::vector<ReleaseFile> files) {
  Release release;
  release.kind = RootKind::kWheel;
  release.files = std::move(files);
  return release;
}

std::vector<std::string> Said(const Comparison& comparison) {
  std::vector<std::string> said;
  for (const Change& change : comparison.changes) {
    said.push_back(std::string(ChangeKindId(change.kind)) + " " + change.subject + ": " +
                   change.was + " -> " + change.is);
  }
  return said;
}

Comparison Of(const ReleaseFile& was, const ReleaseFile& is) {
  return Compare(Side({was}), Side({is}), Gpus());
}

TEST(Compare, TheSameIsNoChange) {
  const ReleaseFile file = File("p/_C.so", Cover::kJit, Cover::kOwn);
  EXPECT_THAT(Said(Of(file, file)), IsEmpty());
}

TEST(Compare, GpusOfFilesThatAreGoneAreLost) {
  const ReleaseFile file = File("p/_C.so", Cover::kNone, Cover::kOwn);
  const auto lost = std::string("gpu-lost sm_90: code of its own -> nothing");
  const Comparison gone = Compare(Side({file}), Side({}), Gpus());
  EXPECT_THAT(Said(gone), testing::Contains(lost));
  EXPECT_EQ(gone.changes[0].severity, Severity::kError);
  ReleaseFile host = file;
  host.covers.clear();
  host.bytes.clear();
  EXPECT_THAT(Said(Of(file, host)), testing::Contains(lost)) << "the same file without its code";
  const ReleaseFile moved = File("p/_D.so", Cover::kNone, Cover::kJit);
  EXPECT_THAT(Said(Compare(Side({file}), Side({moved}), Gpus())),
              testing::Not(testing::Contains(lost)));
}

TEST(Compare, NothingToCompareIsAProblem) {
  const Comparison nothing = Compare(Side({}), Side({}), Gpus());
  EXPECT_EQ(nothing.problems.size(), 2u);
  EXPECT_THAT(DiffText(nothing, {}), testing::Not(HasSubstr("nothing that a user")));
  const ReleaseFile file = File("p/_C.so", Cover::kNone, Cover::kOwn);
  EXPECT_TRUE(Compare(Side({}), Side({file}), Gpus()).problems.empty());
}

TEST(Compare, TellsHowAGpuIsServed) {
  const auto said = [](Cover was, Cover is) {
    return Said(Of(File("p/_C.so", Cover::kOwn, was), File("p/_C.so", Cover::kOwn, is)));
  };
  EXPECT_THAT(said(Cover::kOwn, Cover::kNone),
              ElementsAre("gpu-lost sm_90: code of its own -> nothing"));
  EXPECT_THAT(said(Cover::kOwn, Cover::kJit),
              ElementsAre("gpu-jit-only sm_90: code of its own -> PTX"));
  EXPECT_THAT(
      said(Cover::kOwn, Cover::kSameMajor),
      ElementsAre("gpu-implied sm_90: code of its own -> code of an earlier GPU of its major"));
  EXPECT_THAT(said(Cover::kNone, Cover::kJit), ElementsAre("gpu-gained sm_90: nothing -> PTX"));
  EXPECT_THAT(said(Cover::kJit, Cover::kOwn), ElementsAre("gpu-own sm_90: PTX -> code of its own"));
  EXPECT_THAT(said(Cover::kUnknown, Cover::kNone), IsEmpty()) << "unknown is no loss";
}

TEST(Compare, LibrariesAreNamedByStem) {
  ReleaseFile was = File("p/_C.so", Cover::kNone, Cover::kOwn);
  ReleaseFile is = was;
  is.needed = {"libcudart.so.13", "libnccl.so.2"};
  is.floors[1] = "580.65.06 (CUDA 13 runtime)";
  is.torch = "torch 2.9 or newer";
  was.versions["GLIBC"] = "2.17";
  is.versions["GLIBC"] = "2.28";
  EXPECT_THAT(
      Said(Of(was, is)),
      ElementsAre("driver-floor sm_90: 525.60.13 (CUDA 12 runtime) -> 580.65.06 (CUDA 13 runtime)",
                  "library-added libnccl.so:  -> libnccl.so.2",
                  "library-version libcudart.so: libcudart.so.12 -> libcudart.so.13",
                  "library-version GLIBC: 2.17 -> 2.28",
                  "torch-range torch: no torch -> torch 2.9 or newer"));
}

TEST(Compare, FilesAreMatchedWithoutVersionsAndTags) {
  EXPECT_EQ(MatchKey("foo-1.2.3.dist-info/x"), MatchKey("foo-1.3.dist-info/x"));
  EXPECT_EQ(MatchKey("p/_C.cpython-311-x86_64-linux-gnu.so"), MatchKey("p/_C.abi3.so"));
  EXPECT_EQ(MatchKey("p.libs/libgomp-a34b3233.so.1.0.0"), "p.libs/libgomp.so");
  EXPECT_EQ(MatchKey("lib/python3.11/site-packages/a.so"),
            MatchKey("lib/python3.12/site-packages/a.so"));
  EXPECT_NE(MatchKey("p/liba.so"), MatchKey("q/liba.so"));
  EXPECT_EQ(MatchKey(""), "");
  EXPECT_EQ(WithoutHash("libcudart.e8e8b82a.so.12"), "libcudart.so.12");
  EXPECT_EQ(WithoutHash("libdeadbeef.so"), "libdeadbeef.so");
  const auto both = Compare(Side({File("b/libb_cuda118.so", Cover::kOwn, Cover::kOwn)}),
                            Side({File("b/libb_cuda128.so", Cover::kNone, Cover::kOwn)}), Gpus());
  EXPECT_EQ(both.files, 1u);
  EXPECT_THAT(Said(both), ElementsAre("gpu-lost sm_70: code of its own -> nothing"));
  // With two of them it is not known which took which place.
  const auto two = Compare(
      Side({File("b/x1.so", Cover::kOwn, Cover::kOwn)}),
      Side({File("b/x2.so", Cover::kOwn, Cover::kOwn), File("b/x3.so", Cover::kOwn, Cover::kOwn)}),
      Gpus());
  EXPECT_THAT(Said(two),
              ElementsAre("file-added b/x2.so:  -> sm_90", "file-added b/x3.so:  -> sm_90",
                          "file-removed b/x1.so: sm_90 -> "));
}

TEST(Compare, TheSameInSeveralFilesIsSaidOnce) {
  const Comparison comparison = Compare(
      Side({File("a.so", Cover::kOwn, Cover::kOwn), File("b.so", Cover::kOwn, Cover::kOwn)}),
      Side({File("a.so", Cover::kNone, Cover::kOwn), File("b.so", Cover::kNone, Cover::kOwn)}),
      Gpus());
  ASSERT_EQ(comparison.changes.size(), 1u);
  EXPECT_EQ(comparison.changes[0].files.size(), 2u);
  EXPECT_EQ(comparison.bytes.at(0).was, 2000u);
  EXPECT_THAT(DiffText(comparison, Style{}), HasSubstr("in all 2 files"));
}

KernelRow Row(const std::string& name, uint32_t registers,
              std::vector<KernelParameter> parameters) {
  KernelRow row;
  row.name = &name;
  row.arch = {90, 0};
  row.resources.is_entry = true;
  row.resources.registers = registers;
  row.resources.spills = Spills{0, 0, SpillBasis::kExact};
  row.resources.parameters = std::move(parameters);
  for (const KernelParameter& one : row.resources.parameters)
    row.resources.parameter_bytes = one.offset + one.size;
  return row;
}

TEST(CompareKernels, TellsRegistersSpillsAndParameters) {
  const std::string name = "kernel";
  const std::string other = "_Z5otherv";
  FileKernels was;
  was.kernels = {Row(name, 40, {{0, 0, 8}, {1, 8, 4}}), Row(other, 8, {})};
  FileKernels is;
  is.kernels = {Row(name, 48, {{0, 0, 8}, {1, 8, 8}})};
  is.kernels[0].resources.spills->loads = 16;
  ReleaseFile before = File("k.cubin", Cover::kNone, Cover::kOwn);
  ReleaseFile after = before;
  before.kernels = &was;
  after.kernels = &is;
  const Comparison comparison = Of(before, after);
  EXPECT_THAT(Said(comparison),
              ElementsAre("kernels-removed 1 of 2 kernels:  -> ",
                          "parameters kernel: 2 parameters in 12 bytes -> 2 parameters in 16 bytes",
                          "spills kernel for sm_90: 0 bytes -> 16 bytes",
                          "registers kernel for sm_90: 40 -> 48"));
  EXPECT_THAT(comparison.changes[0].evidence, ElementsAre("other()"));
  EXPECT_THAT(comparison.changes[1].evidence,
              ElementsAre("parameter 1: 8 bytes at offset 8, was 4 bytes at offset 8"));
}

TEST(CompareKernels, TheSameInSeveralFilesIsOneChange) {
  const std::string name = "_Z6kernelv";
  FileKernels was;
  was.kernels = {Row(name, 40, {})};
  FileKernels is;
  is.kernels = {Row(name, 48, {})};
  std::vector<ReleaseFile> before = {File("a.so", Cover::kNone, Cover::kOwn),
                                     File("b.so", Cover::kNone, Cover::kOwn)};
  std::vector<ReleaseFile> after = before;
  for (ReleaseFile& file : before) file.kernels = &was;
  for (ReleaseFile& file : after) file.kernels = &is;
  const Comparison comparison = Compare(Side(before), Side(after), Gpus());
  ASSERT_EQ(comparison.changes.size(), 1u);
  EXPECT_EQ(comparison.changes[0].files.size(), 2u);
  EXPECT_EQ(comparison.kernels_changed, 2u);
  const std::string text = DiffText(comparison, Style{});
  EXPECT_THAT(text, HasSubstr("registers: 1 with more, 0 with fewer\n"));
  EXPECT_THAT(text, HasSubstr("  kernel  sm_90  40  -> 48  in all 2 files\n"));
}

TEST(CompareKernels, OfTwoWithOneNameTheLinkedOneCounts) {
  const std::string name = "kernel";
  FileKernels was;
  was.kernels = {Row(name, 24, {}), Row(name, 40, {})};
  was.kernels[1].resources.constants = {{0, 528}};
  FileKernels is;
  is.kernels = {Row(name, 48, {})};
  ReleaseFile before = File("k.so", Cover::kNone, Cover::kOwn);
  ReleaseFile after = before;
  before.kernels = &was;
  after.kernels = &is;
  EXPECT_THAT(Said(Of(before, after)), ElementsAre("registers kernel for sm_90: 40 -> 48"));
  was.kernels[0].resources.constants = {{0, 528}};
  EXPECT_THAT(Said(Of(before, after)), IsEmpty()) << "two static kernels: which one is not known";
  was.kernels[0].resources.registers = 40;
  EXPECT_THAT(Said(Of(before, after)), ElementsAre("registers kernel for sm_90: 40 -> 48"));
}

}  // namespace
}  // namespace cuproof
