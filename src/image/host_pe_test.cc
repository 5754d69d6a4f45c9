#include "image/host_pe.h"

#include <gtest/gtest.h>

#include <string>

#include "build_fatbin.h"

namespace cuproof {
namespace {

HostObject Read(const std::string& bytes) { return ReadHostPe(ByteView(bytes)); }

TEST(HostPe, GivesMachineAndSectionsCutToEightLetters) {
  const std::string bytes =
      build::PeBytes({{".text", "code"}, {".nv_fatbin", "images"}, {".nvFatBinSegment", "w"}});
  const HostObject host = Read(bytes);
  EXPECT_EQ(host.machine, "x86-64 Windows");
  ASSERT_EQ(host.ranges.size(), 3u);
  EXPECT_EQ(host.ranges[0].name, ".text");
  EXPECT_EQ(host.ranges[1].name, ".nv_fatb");
  EXPECT_EQ(host.ranges[2].name, ".nvFatBi");
  EXPECT_EQ(bytes.substr(host.ranges[1].offset, host.ranges[1].size), "images");
  EXPECT_TRUE(host.damage.empty());
}

TEST(HostPe, OtherMachines) {
  EXPECT_EQ(Read(build::PeBytes({}, 0xAA64)).machine, "arm64 Windows");
  EXPECT_EQ(Read(build::PeBytes({}, 0x014C)).machine, "Windows");
}

TEST(HostPe, ADosProgramOrATextThatStartsWithMzIsNoPe) {
  EXPECT_EQ(Read("MZ").machine, "");
  EXPECT_EQ(Read("MZ is how this text starts, and it goes on for more than 64 bytes, as one sees")
                .machine,
            "");
  const std::string bytes = build::PeBytes({{".text", "code"}});
  for (const uint64_t at : {uint64_t{1} << 30, uint64_t{UINT32_MAX}}) {
    EXPECT_EQ(Read(build::Patched(bytes, 0x3C, build::Number(at, 4))).machine, "");
  }
}

TEST(HostPe, SectionsThatLieOutsideAreLeftOut) {
  const std::string bytes = build::PeBytes({{".text", "code"}, {".nv_fatb", "images"}});
  const size_t first = 0x80 + 24 + 240;
  EXPECT_EQ(Read(build::Patched(bytes, first + 16, build::Number(UINT32_MAX, 4))).ranges.size(),
            1u);
  EXPECT_EQ(Read(build::Patched(bytes, first + 20, build::Number(UINT32_MAX, 4))).ranges.size(),
            1u);
}

TEST(HostPe, MoreSectionsThanThereAreEndAtTheEndOfTheFile) {
  const std::string bytes = build::PeBytes({{".text", "code"}});
  const HostObject host = Read(build::Patched(bytes, 0x80 + 6, build::Number(0xFFFF, 2)));
  EXPECT_EQ(host.ranges.size(), 1u);
}

}  // namespace
}  // namespace cuproof
