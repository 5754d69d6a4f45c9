#pragma once
#include <string>
#include <utility>
#include <vector>

#include "rule/report.h"

// Hand-made reports for the tests of this folder.
namespace cuproof::test {

inline Image MakeImage(ImageKind kind, Arch arch, uint64_t stored) {
  Image image;
  image.kind = kind;
  image.arch = arch;
  image.stored_size = image.raw_size = stored;
  image.padded_size = 64 + stored;
  return image;
}

inline Image Cubin(Arch arch, uint64_t stored = 936) {
  Image image = MakeImage(ImageKind::kCubin, arch, stored);
  image.raw_kind = 2;
  image.version = {1, 8};
  image.toolkit = {13, 0};
  return image;
}

inline Image Ptx(uint32_t arch, Version isa, uint64_t stored = 936) {
  Image image = MakeImage(ImageKind::kPtx, {arch, 0}, stored);
  image.raw_kind = 1;
  image.version = isa;
  image.compression = Compression::kZstd;
  image.raw_size = 7 * stored;
  return image;
}

/// Adds a container of `images` at `offset`, a 16-byte header first.
inline void AddContainer(FileImages& file, uint64_t offset, std::vector<Image> images,
                         std::string section = ".nv_fatbin") {
  Module module;
  module.offset = offset;
  module.section = std::move(section);
  module.first_image = static_cast<uint32_t>(file.images.size());
  module.image_count = static_cast<uint32_t>(images.size());
  uint64_t at = offset + 16;
  for (Image& image : images) {
    image.offset = at;
    image.payload = at + 64;
    image.module = static_cast<uint32_t>(file.modules.size());
    at += image.padded_size;
    file.images.push_back(std::move(image));
  }
  module.size = at - offset;
  file.modules.push_back(std::move(module));
}

inline FileReport MakeFile(std::string path, std::vector<Image> images) {
  FileReport file;
  file.path = std::move(path);
  file.images.kind = FileKind::kElf;
  file.images.host.machine = "x86-64";
  file.images.host.ranges = {{0x100, 0x80, ".text"}, {0x1000, 0x8000, ".nv_fatbin"}};
  file.images.size = 0xA000;
  AddContainer(file.images, 0x1000, std::move(images));
  return file;
}

inline Gpu MakeGpu(uint32_t sm, std::string product = {}) {
  Gpu gpu;
  gpu.sm = sm;
  gpu.product = std::move(product);
  return gpu;
}

inline FileVerdict MakeVerdict(Outcome outcome, int64_t image, DriverFloor floor = {}) {
  FileVerdict verdict;
  verdict.outcome = outcome;
  verdict.reason = outcome == Outcome::kDoesNotRun ? Reason::kNoImage : Reason::kNone;
  verdict.image = image;
  verdict.floor = std::move(floor);
  return verdict;
}

inline Finding MakeFinding(std::string id, Severity severity, std::string file,
                           std::string message) {
  Finding finding;
  finding.id = std::move(id);
  finding.severity = severity;
  finding.file = std::move(file);
  finding.message = std::move(message);
  return finding;
}

/// One file that runs on sm_90, is compiled for sm_120, and does not run on sm_75.
inline Report OneFileReport() {
  Report report;
  report.target.gpus = {MakeGpu(75, "T4"), MakeGpu(90, "H200"), MakeGpu(120, "RTX 5090")};
  report.target.named = true;
  report.roots = {{RootKind::kFile, "a/libx.so", ""}};
  report.files = {MakeFile("a/libx.so", {Cubin({90, 0}), Ptx(90, {9, 0})})};
  report.files[0].verdicts = {
      MakeVerdict(Outcome::kDoesNotRun, 0),
      MakeVerdict(Outcome::kRunsSass, 0, {580, "580.65.06", "CUDA 13 runtime"}),
      MakeVerdict(Outcome::kRunsJit, 1, {580, "580.65.06", "PTX ISA 9.0"})};
  Finding finding = MakeFinding("CP101", Severity::kError, "a/libx.so", "no image runs on sm_75");
  finding.subject = "sm_75";
  finding.evidence = {"it holds sm_90 compute_90"};
  finding.fix = "rebuild with -gencode arch=compute_75,code=sm_75";
  report.findings = {finding};
  report.files_seen = 1;
  report.bytes_read = 0xA000;
  report.seconds = 0.004;
  return report;
}

/// An environment of `count` files that run on sm_90; the first `failing` of them not on sm_75.
inline Report EnvironmentReport(size_t count, size_t failing) {
  Report report;
  report.target.gpus = {MakeGpu(75), MakeGpu(90)};
  report.target.named = true;
  report.roots = {{RootKind::kEnvironment, ".venv", ""}};
  for (size_t i = 0; i < count; ++i) {
    const std::string name = "pkg/lib" + std::to_string(100 + i) + ".so";
    FileReport file = MakeFile(".venv/lib/python3.12/site-packages/" + name, {Cubin({90, 0})});
    const Outcome on_75 = i < failing ? Outcome::kDoesNotRun : Outcome::kRunsSass;
    file.verdicts = {MakeVerdict(on_75, 0), MakeVerdict(Outcome::kRunsSass, 0)};
    if (i < failing) {
      report.findings.push_back(
          MakeFinding("CP101", Severity::kError, file.path, "no image runs on sm_75"));
    }
    report.files.push_back(std::move(file));
  }
  report.files_seen = count;
  return report;
}

}  // namespace cuproof::test
