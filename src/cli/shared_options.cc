#include "cli/shared_options.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "bytes/parallel.h"
#include "output/escape.h"
#include "target/facts.h"
#include "target/table.h"

namespace cuproof {
namespace {

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

Error CannotWrite(const std::string& file, int error) {
  return {ErrorCode::kNotReadable, fmt::format("could not be written: {}", std::strerror(error)),
          file, std::nullopt};
}

Result<bool> ReplaceFile(const std::string& file, const std::string& text) {
  const std::string part = fmt::format("{}.{}.part", file, getpid());
  const int fd = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return CannotWrite(file, errno);
  const bool written = WriteAll(fd, text);
  const int write_error = errno;
  const bool closed = close(fd) == 0;
  if (written && closed && rename(part.c_str(), file.c_str()) == 0) return true;
  const int error = written ? errno : write_error;
  unlink(part.c_str());
  return CannotWrite(file, error);
}

// GPUs that a newest toolkit can build for: what a file without a named target is measured by.
std::vector<Gpu> UsualGpus() {
  std::vector<Gpu> gpus;
  for (Gpu& gpu : AllGpus(false)) {
    const ArchFact* fact = FindArch(gpu.sm);
    if (fact && !fact->last_cuda.known()) gpus.push_back(std::move(gpu));
  }
  return gpus;
}

void AddOnce(std::vector<Gpu>& gpus, Gpu gpu) {
  for (const Gpu& known : gpus) {
    if (known.sm == gpu.sm && known.product == gpu.product) return;
  }
  gpus.push_back(std::move(gpu));
}

// One regular file, or one that neither is there yet.
bool SameFile(const std::string& a, const std::string& b) {
  struct stat first;
  struct stat second;
  const bool is_first = stat(a.c_str(), &first) == 0;
  const bool is_second = stat(b.c_str(), &second) == 0;
  if (is_first && is_second) {
    return S_ISREG(first.st_mode) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
  }
  if (is_first || is_second) return false;
  std::error_code error;
  const auto whole = [&error](const std::string& path) {
    return error ? std::filesystem::path()
                 : std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  };
  return !a.empty() && !b.empty() && whole(a) == whole(b) && !error;
}

}  // namespace

const CLI::Validator& NotEmpty() {
  static const CLI::Validator validator(
      [](const std::string& text) { return std::string(text.empty() ? "must not be empty" : ""); },
      "");
  return validator;
}

void OutputOptions::AddTo(CLI::App& command, const std::vector<std::string>& formats) {
  command.add_option("--format", format, "output format")
      ->check(CLI::IsMember(formats))
      ->capture_default_str();
  command.add_option("-o,--output", file, "write to this file instead of standard output")
      ->check(NotEmpty());
  command.add_option("--color", color, "colour the text")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  command.add_flag("-v,--verbose", verbose, "show everything, not the first few");
  command.add_option("--threads", threads, "threads to use (default: one per processor)")
      ->check(CLI::Range(1u, 1024u));
}

Style OutputOptions::StyleFor(int fd) const {
  const Stream stream = file.empty() ? LookAtStream(fd) : Stream{};
  return ChooseStyle(ParseColorMode(color).value_or(ColorMode::kAuto), stream, verbose);
}

std::optional<Error> OutputOptions::OverwritesInput(const std::vector<std::string>& paths) const {
  return RefuseOverwrite({{"-o", file}}, paths);
}

std::optional<Error> RefuseOverwrite(const std::vector<OutputFile>& outputs,
                                     const std::vector<std::string>& inputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputFile& output = outputs[i];
    if (output.path.empty()) continue;
    for (const std::string& input : inputs) {
      if (!SameFile(output.path, input)) continue;
      return Error{
          ErrorCode::kUsage,
          fmt::format("is one of the files to read: name another file for {}", output.option),
          output.path, std::nullopt};
    }
    for (size_t k = 0; k < i; ++k) {
      if (outputs[k].path.empty() || !SameFile(output.path, outputs[k].path)) continue;
      return Error{ErrorCode::kUsage,
                   fmt::format("would be written by {} and by {}: name two files",
                               outputs[k].option, output.option),
                   output.path, std::nullopt};
    }
  }
  return std::nullopt;
}

unsigned OutputOptions::Threads() const { return threads ? threads : ProcessorCount(); }

void TargetOptions::AddTo(CLI::App& command) {
  command
      .add_option("--gpu", gpus,
                  "GPU to run on: sm_90, 9.0, a product name such as H200, or all; repeatable "
                  "(default: the GPUs of this machine)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option("--driver", driver,
                  "driver to run on: its number (580.95.05) or its CUDA version (13.0) (default: "
                  "the driver of this machine, unless --gpu names GPUs)")
      ->check(NotEmpty());
  command
      .add_option("--cuda", cuda, "CUDA toolkit to build with; makes fixes say what it can target")
      ->check(NotEmpty());
  command.add_option("--data", data, "folder with newer tables than those compiled in")
      ->check(CLI::ExistingDirectory);
}

Result<Target> TargetOptions::Resolve() const {
  if (!data.empty()) {
    if (auto set = SetDataFolder(data); !set) return set.error();
  }
  Target target;
  if (gpus.empty()) target = ThisMachine();
  for (const std::string& name : gpus) {
    auto found = FindGpus(name);
    if (!found) return found.error();
    for (Gpu& gpu : *found) AddOnce(target.gpus, std::move(gpu));
    target.named = true;
  }
  if (target.gpus.empty()) target.gpus = UsualGpus();
  if (!driver.empty()) {
    auto found = FindDriver(driver);
    if (!found) return found.error();
    target.driver = std::move(*found);
  }
  if (!cuda.empty()) {
    const bool major_only = cuda.find_first_not_of("0123456789") == std::string::npos;
    const Version version = ParseVersion(major_only ? cuda + ".0" : cuda);
    if (!version.known()) {
      return Error{ErrorCode::kUsage,
                   fmt::format("--cuda: expected a version such as 13.0, got '{}'", cuda), "",
                   std::nullopt};
    }
    target.cuda = version;
  }
  return target;
}

void PrintNotice(const std::string& text) { WriteAll(STDERR_FILENO, text); }

void PrintError(const Error& error) { WriteAll(STDERR_FILENO, ErrorLine(error) + "\n"); }

Result<bool> WriteOutput(const std::string& file, const std::string& text) {
  if (!file.empty()) {
    struct stat status;
    const bool special = stat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
    if (!special) return ReplaceFile(file, text);
    const int fd = open(file.c_str(), O_WRONLY | O_CLOEXEC);  // /dev/stderr, /dev/null, a pipe
    if (fd < 0) return CannotWrite(file, errno);
    const bool written = WriteAll(fd, text);
    const int error = errno;
    close(fd);
    if (!written) return CannotWrite(file, error);
    return true;
  }
  // A reader that has seen enough is no failure.
  if (!WriteAll(STDOUT_FILENO, text) && errno != EPIPE)
    return CannotWrite("standard output", errno);
  return true;
}

}  // namespace cuproof
