// Any bytes as a file: its images are listed, expanded, judged, and the report is written in every
// format.
#include <array>

#include "fuzz/require.h"
#include "image/file_images.h"
#include "output/check_json.h"
#include "output/check_text.h"
#include "output/inspect_json.h"
#include "output/inspect_text.h"
#include "rule/rule.h"

namespace cuproof {
namespace {

// Every place lies in the file, modules do not overlap, and images lie in their module.
void RequirePlaces(const FileImages& file) {
  uint64_t images = 0;
  for (const Module& module : file.modules) {
    REQUIRE(module.offset <= file.size && module.size <= file.size - module.offset);
    REQUIRE(module.first_image == images);
    images += module.image_count;
    REQUIRE(images <= file.images.size());
    for (uint64_t i = module.first_image; i < images; ++i) {
      const Image& image = file.images[i];
      REQUIRE(image.offset >= module.offset);
      REQUIRE(image.offset - module.offset + image.padded_size <= module.size);
      REQUIRE(image.payload - image.offset + image.stored_size <= image.padded_size);
      REQUIRE(&file.modules[image.module] == &module);
    }
  }
  REQUIRE(images == file.images.size());
}

Target TargetFor(const std::optional<Driver>& driver) {
  Target target;
  for (const char* name : {"sm_52", "sm_80", "sm_90", "sm_103", "sm_121", "sm_110", "sm_190"}) {
    if (auto gpus = FindGpus(name)) target.gpus.push_back(gpus->front());
  }
  target.named = true;
  target.driver = driver;
  return target;
}

const std::array<Target, 3>& Targets() {
  static const std::array<Target, 3> targets = {
      TargetFor(std::nullopt), TargetFor(*FindDriver("580.65.06")), TargetFor(*FindDriver("525"))};
  return targets;
}

std::vector<FileVerdict> Judge(const FileImages& images, const Target& target) {
  std::vector<FileVerdict> verdicts;
  for (const Gpu& gpu : target.gpus) {
    verdicts.push_back(JudgeFile(images, gpu, target.driver));
    const int64_t image = verdicts.back().image;
    REQUIRE(image < 0 || static_cast<uint64_t>(image) < images.images.size());
  }
  return verdicts;
}

void Write(FileImages images, const Target& target) {
  Report report;
  report.target = target;
  report.roots.push_back({});
  FileReport file;
  file.path = "f";
  file.verdicts = Judge(images, target);
  file.images = std::move(images);
  report.files.push_back(std::move(file));
  RunRules({report.files[0], report, target}, report.findings);
  const RunInfo run;
  REQUIRE(!CheckText(report, Style{}, run).empty());
  REQUIRE(!CheckJsonLines(report, run).empty());
  REQUIRE(!InspectText(report.files, {true}, Style{}).empty());
  REQUIRE(!InspectJson(report.files, report.problems, run).empty());
}

}  // namespace
}  // namespace cuproof

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuproof;
  const ByteView bytes(data, size);
  FileImages file = ListImages(bytes);
  RequirePlaces(file);
  FileImages deep = file;
  ReadToolkits(bytes, file);
  ReadDeep(bytes, deep, 1);
  RequirePlaces(deep);
  for (const Target& target : Targets()) Judge(file, target);
  // Writing takes most of the time: one target each, by an accident of the input.
  Write(std::move(size % 2 ? deep : file), Targets()[size % Targets().size()]);
  return 0;
}
