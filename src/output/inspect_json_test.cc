#include "output/inspect_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "output/json.h"
#include "output/test_report.h"

namespace cuproof {
namespace {

TEST(InspectJson, Members) {
  FileReport file =
      test::MakeFile("lib\xff\"\n.so", {test::Cubin({90, 'a'}), test::Ptx(90, {9, 0})});
  file.images.images[1].has_code = false;
  file.images.images[1].identifier = "a\x1b\"b";
  file.images.images[1].damage = Error{ErrorCode::kBadSize, "phrase \\ \xc0", "", 5};
  file.images.damage = {{ErrorCode::kTruncated, "cut short", "", 0x20}};
  const std::vector<Error> problems = {{ErrorCode::kNotFound, "no such file", "x", std::nullopt}};
  RunInfo run;
  run.version = "1.2.3";
  const Json json = Json::parse(InspectJson({file, FileReport{}}, problems, run), nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["schema"], "cuproof.inspect/1");
  EXPECT_EQ(json["version"], "1.2.3");
  EXPECT_EQ(json["problems"].at(0)["code"], "not-found");
  ASSERT_EQ(json["files"].size(), 2u);
  const Json& first = json["files"].at(0);
  EXPECT_EQ(first["path"], "lib\uFFFD\"\n.so");
  EXPECT_EQ(first["damage"].at(0)["offset"], 0x20);
  EXPECT_EQ(first["modules"].at(0)["images"], 2);
  const Json& cubin = first["images"].at(0);
  EXPECT_EQ(cubin["arch"], "sm_90a");
  EXPECT_EQ(cubin["toolkit"], "13.0");
  EXPECT_EQ(cubin["version"], "1.8");
  EXPECT_EQ(cubin["offset"], 0x1010);
  EXPECT_EQ(cubin["section"], ".nv_fatbin");
  EXPECT_EQ(cubin["damage"], nullptr);
  EXPECT_EQ(cubin["has_code"], nullptr);
  const Json& ptx = first["images"].at(1);
  EXPECT_EQ(ptx["toolkit"], nullptr);
  EXPECT_EQ(ptx["has_code"], false);
  EXPECT_EQ(ptx["identifier"], "a\x1b\"b");
  EXPECT_EQ(ptx["damage"], "phrase \\ \uFFFD");
  uint64_t sum = 0;
  for (const Json& size : first["sizes"]) sum += size["bytes"].get<uint64_t>();
  EXPECT_EQ(sum, file.images.size);
  EXPECT_TRUE(json["files"].at(1)["images"].empty());
}

TEST(InspectJson, NoFiles) {
  EXPECT_EQ(InspectJson({}, {}),
            "{\n  \"schema\": \"cuproof.inspect/1\",\n  \"version\": \"\",\n  \"files\": [],\n"
            "  \"problems\": []\n}\n");
}

}  // namespace
}  // namespace cuproof
