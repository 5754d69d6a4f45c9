#pragma once
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "output/style.h"
#include "target/target.h"

namespace cuproof {

/// --format, -o, --color, --verbose, --threads: the same in every command.
struct OutputOptions {
  std::string format = "text";
  std::string file;
  std::string color = "auto";
  bool verbose = false;
  unsigned threads = 0;

  void AddTo(CLI::App& command, const std::vector<std::string>& formats);
  Style StyleFor(int fd) const;
  unsigned Threads() const;
  /// That -o names a file which is read: a wheel would be replaced by its report.
  std::optional<Error> OverwritesInput(const std::vector<std::string>& paths) const;
};

/// --gpu, --driver, --cuda, --data.
struct TargetOptions {
  std::vector<std::string> gpus;
  std::string driver;
  std::string cuda;
  std::string data;

  void AddTo(CLI::App& command);
  /// What was asked for; what was not asked for is taken from this machine.
  Result<Target> Resolve() const;
};

/// A file that a run writes, and the option that names it.
struct OutputFile {
  const char* option;
  std::string path;  // empty: the option was not given
};

/// That one of `outputs` is read, too, or is written by two options: one would be lost.
std::optional<Error> RefuseOverwrite(const std::vector<OutputFile>& outputs,
                                     const std::vector<std::string>& inputs);

/// An empty argument is a variable that was not set, not a wish for the default.
const CLI::Validator& NotEmpty();

/// Writes to standard output, or to `file` by way of a new file that replaces it when it is whole:
/// a full disk or a killed run leaves what was there.
Result<bool> WriteOutput(const std::string& file, const std::string& text);

/// One line on standard error.
void PrintError(const Error& error);

/// Text on standard error, as it is. Where that cannot take it (a full disk, a closed pipe),
/// nothing happens: what we say of a run must not end it.
void PrintNotice(const std::string& text);

}  // namespace cuproof
