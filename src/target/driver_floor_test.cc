#include "target/driver_floor.h"

#include <gtest/gtest.h>

#include <string>

namespace cuproof {
namespace {

Driver DriverOf(std::string_view text) { return *FindDriver(text); }

FileImages Needing(const std::string& library) {
  FileImages file;
  file.host.needed = {library};
  return file;
}

Image Cubin(Version toolkit) {
  Image image;
  image.kind = ImageKind::kCubin;
  image.toolkit = toolkit;
  return image;
}

Image Ptx(Version isa) {
  Image image;
  image.kind = ImageKind::kPtx;
  image.version = isa;
  return image;
}

TEST(RuntimeFloor, IsThatOfTheMajorOfLibcudart) {
  EXPECT_EQ(RuntimeFloor(Needing("libcudart.so.11.0")).number, "450.80.02");
  EXPECT_EQ(RuntimeFloor(Needing("libcudart.so.12")).number, "525.60.13");
  const DriverFloor floor = RuntimeFloor(Needing("libcudart.so.13"));
  EXPECT_EQ(floor.number, "580.65.06");
  EXPECT_EQ(floor.branch, 580u);
  EXPECT_EQ(floor.because, "CUDA 13 runtime");
}

TEST(RuntimeFloor, ElseThatOfTheNewestToolkitAmongTheCubins) {
  FileImages file;
  file.images = {Cubin({12, 9}), Cubin({}), Cubin({11, 8})};
  EXPECT_EQ(RuntimeFloor(file).number, "525.60.13");
  EXPECT_EQ(RuntimeFloor(file).because, "CUDA 12 toolkit");
  // A library built with CUDA 13 that links libcudart.so.12 runs where that one does.
  file.images = {Cubin({13, 0})};
  file.host.needed = {"libcudart.so.12"};
  EXPECT_EQ(RuntimeFloor(file).number, "525.60.13");
}

TEST(RuntimeFloor, ElseThatOfTheToolkitOfItsPtx) {
  FileImages file;
  file.images = {Ptx({7, 8}), Ptx({9, 1})};
  EXPECT_EQ(RuntimeFloor(file).number, "580.65.06");
}

TEST(RuntimeFloor, BeforeMinorCompatibilityEachToolkitHadItsOwn) {
  FileImages file;
  file.images = {Cubin({10, 1})};
  EXPECT_EQ(RuntimeFloor(file).number, "418.39");
  EXPECT_EQ(RuntimeFloor(file).because, "CUDA 10.1");
}

TEST(RuntimeFloor, OfAFileThatTellsNothingIsNone) {
  EXPECT_EQ(RuntimeFloor({}).branch, 0u);
  EXPECT_EQ(RuntimeFloor(Needing("libcudart.so.99")).branch, 0u);
}

TEST(PtxFloor, IsTheFirstDriverOfTheToolkitOfItsIsa) {
  EXPECT_EQ(PtxFloor(Ptx({9, 1})).number, "590.44.01");
  EXPECT_EQ(PtxFloor(Ptx({9, 1})).because, "PTX ISA 9.1");
  EXPECT_EQ(PtxFloor(Ptx({8, 5})).number, "555.42.02");
  // A branch that came without a toolkit.
  EXPECT_EQ(PtxFloor(Ptx({8, 6})).branch, 565u);
  EXPECT_EQ(PtxFloor(Ptx({8, 6})).number, "");
  EXPECT_EQ(PtxFloor(Ptx({9, 9})).branch, 0u);
}

TEST(ZstdFloor, IsR550ForZstdOnly) {
  Image image = Ptx({8, 0});
  EXPECT_EQ(ZstdFloor(image).branch, 0u);
  image.compression = Compression::kLz4Block;
  EXPECT_EQ(ZstdFloor(image).branch, 0u);
  image.compression = Compression::kZstd;
  EXPECT_EQ(ZstdFloor(image).branch, 550u);
}

TEST(Meets, ComparesNumbersWithinABranch) {
  const DriverFloor floor = {580, "580.65.06", ""};
  EXPECT_TRUE(Meets(DriverOf("580.65.06"), floor));
  EXPECT_TRUE(Meets(DriverOf("580.95.05"), floor));
  EXPECT_FALSE(Meets(DriverOf("580.65.05"), floor));
  EXPECT_FALSE(Meets(DriverOf("580.9.20"), floor));
  EXPECT_TRUE(Meets(DriverOf("590.1.1"), floor));
  EXPECT_FALSE(Meets(DriverOf("575.99.99"), floor));
}

TEST(Meets, ABranchAloneMeetsTheFloorsOfItsBranch) {
  EXPECT_TRUE(Meets(DriverOf("580"), {580, "580.65.06", ""}));
  EXPECT_TRUE(Meets(DriverOf("13.0"), {580, "580.65.06", ""}));
  EXPECT_TRUE(Meets(DriverOf("550.1"), {550, "", ""}));
  EXPECT_FALSE(Meets(DriverOf("12.9"), {580, "580.65.06", ""}));
}

TEST(Meets, EveryDriverMeetsNoFloorAndANewerOneAnyFloor) {
  EXPECT_TRUE(Meets(DriverOf("390.157"), {}));
  EXPECT_TRUE(Meets(DriverOf("9999"), {610, "610.43.02", ""}));
  EXPECT_TRUE(Meets(DriverOf("14.0"), {610, "610.43.02", ""}));
}

TEST(Raise, TakesTheHigher) {
  DriverFloor floor;
  Raise(floor, {});
  EXPECT_EQ(floor.branch, 0u);
  Raise(floor, {550, "", "zstd images"});
  EXPECT_EQ(floor.because, "zstd images");
  Raise(floor, {525, "525.60.13", "CUDA 12 runtime"});
  EXPECT_EQ(floor.because, "zstd images");
  Raise(floor, {580, "580.9.06", "one"});
  Raise(floor, {580, "580.65.06", "the other"});
  EXPECT_EQ(floor.because, "the other");
  Raise(floor, {580, "580.65.06", "an equal one"});
  EXPECT_EQ(floor.because, "the other");
  Raise(floor, {});
  EXPECT_EQ(floor.because, "the other");
}

}  // namespace
}  // namespace cuproof
