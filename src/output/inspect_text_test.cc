#include "output/inspect_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "output/test_report.h"

namespace cuproof {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(InspectText, Summary) {
  const FileReport file =
      test::MakeFile("a/libx.so", {test::Cubin({90, 'a'}, 1936), test::Ptx(90, {9, 0})});
  EXPECT_EQ(InspectText({file}, {}, Style{}),
            R"(a/libx.so  ELF x86-64, 40,960 bytes, 2 images in 1 module

  kind   target      version    packed  images  stored  expanded  section
  cubin  sm_90a      CUDA 13.0  -            1   1,936     1,936  .nv_fatbin
  ptx    compute_90  ISA 9.0    zstd         1     936     6,552  .nv_fatbin
  total                                      2   2,872     8,488

  bytes of the file
  sm_90a              2,000    4.9 %
  compute_90          1,000    2.4 %
  container headers      16    0.0 %
  .nv_fatbin         29,752   72.6 %
  .text                 128    0.3 %
  headers and gaps    8,064   19.7 %
  total              40,960  100.0 %
)");
}

TEST(InspectText, EveryImage) {
  FileReport file = test::MakeFile("x", {test::Cubin({90, 'a'}), test::Ptx(90, {9, 0})});
  file.images.images[0].identifier = "kernel\x1b.cu";
  file.images.images[1].options = "-O3";
  file.images.images[1].damage = Error{ErrorCode::kBadCompressed, "zstd: cut", "", 0x1400};
  const std::string text = InspectText({file}, {true}, Style{});
  EXPECT_THAT(text, HasSubstr("        0x1010 cubin   sm_90a       ABI 8     13.0      -        "));
  EXPECT_THAT(text, HasSubstr("  .nv_fatbin name=kernel\\x1b.cu\n"));
  EXPECT_THAT(text, HasSubstr("  .nv_fatbin options=\"-O3\" damaged: zstd: cut\n"));
  EXPECT_THAT(text, HasSubstr("damage: at byte 0x1400: zstd: cut\n"));
  EXPECT_THAT(InspectText({file}, {false}, Style{}), Not(HasSubstr("name=")));
}

TEST(InspectText, ManySectionsAreCounted) {
  FileReport file = test::MakeFile("x.a", {test::Cubin({90, 0})});
  file.images.kind = FileKind::kArchive;
  for (uint64_t i = 0; i < 50; ++i) {
    test::AddContainer(file.images, 0x2000 + i * 0x100, {test::Cubin({90, 0}, 36)},
                       "m" + std::to_string(i) + ".o");
  }
  EXPECT_THAT(InspectText({file}, {}, Style{}), HasSubstr("  51 members\n"));
  Style verbose;
  verbose.verbose = true;
  EXPECT_THAT(InspectText({file}, {}, verbose), HasSubstr("  m49.o\n"));
}

TEST(InspectText, NoImages) {
  FileReport file;
  file.path = "data.bin";
  file.images.size = 7;
  EXPECT_EQ(InspectText({file}, {true}, Style{}),
            "data.bin  data, 7 bytes, 0 images in 0 modules\n\n"
            "  bytes of the file\n"
            "  rest               7  100.0 %\n"
            "  total              7  100.0 %\n");
}

}  // namespace
}  // namespace cuproof
