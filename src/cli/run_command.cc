#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <memory>
#include <utility>

#include "bytes/embedded.h"
#include "cli/command.h"
#include "cli/shared_options.h"
#include "launch/child.h"
#include "launch/driver_file.h"
#include "launch/preload.h"
#include "launch/program.h"
#include "launch/run_folder.h"
#include "launch/run_record.h"
#include "link/environment.h"
#include "output/escape.h"
#include "trace/summary.h"

namespace cuproof {
namespace {

using namespace launch;  // NOLINT(google-build-using-namespace): this file is its front

struct RunArguments {
  std::string folder;
  RunOptions options;
  std::string mode = "flight";
  bool exec = false;
  bool no_summary = false;
  bool quiet = false;
};

void Say(const RunArguments& arguments, const std::string& line) {
  if (!arguments.quiet) PrintNotice(fmt::format("cuproof: {}\n", EscapeTerminal(line)));
}

int Fail(const Error& error, int exit_code = kExitRunFailed) {
  PrintError(error);
  return exit_code;
}

uint64_t ShimOptions(const RunOptions& options) {
  uint64_t bits = 0;
  if (options.mode == Mode::kIdle) bits |= trace::kOptionIdle;
  if (options.mode == Mode::kTimed) bits |= trace::kOptionTimed;
  if (options.dump_images) bits |= trace::kOptionDumpImages;
  return bits;
}

/// The program as if cuproof were not there, and in its place.
int RunUnrecorded(const RunArguments& arguments, const Command& command, const std::string& why) {
  Say(arguments, why + "; nothing is recorded");
  const StartFailure failure = Execute(command);
  return Fail(failure.error, failure.exit_code);
}

/// Fills the run folder; gives the path of the shim.
Result<std::string> WriteLibraries(RunFolder& folder, const DriverFile& driver,
                                   const RunOptions& options) {
  const auto place = folder.PlaceLibrary(kInjectName, EmbeddedInjectLibrary());
  if (!place) return place.error();
  ShimSettings settings;
  settings.driver = driver.path;
  settings.folder = folder.path();
  settings.inject_library = *place + '/' + kInjectName;
  settings.options = ShimOptions(options);
  settings.records = options.records;
  settings.max_rings = options.max_rings;
  settings.event_bytes = options.event_bytes;
  settings.image_bytes = options.image_bytes;
  const auto shim = WriteDriverShim(driver.exports, settings);
  if (!shim) return shim.error();
  std::string path = *place + '/' + kDriverName;
  if (auto written = folder.WriteNew(path, *shim); !written) return written.error();
  return path;
}

void AddNotes(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  notes.insert(notes.end(), more.begin(), more.end());
}

/// What was recorded, on standard error as all that is ours.
void Summarise(const RunArguments& arguments, const RunFolder& folder) {
  if (arguments.quiet) return;
  if (arguments.no_summary) {
    Say(arguments, fmt::format("recorded in {}", folder.path()));
    return;
  }
  const Style style = ChooseStyle(ColorMode::kAuto, LookAtStream(STDERR_FILENO), false);
  const auto summary = trace::SummariseRun(folder.path(), style);
  if (!summary) {
    PrintError(summary.error());
  } else {
    PrintNotice(*summary);
  }
}

/// Starts the recorded program; its own exit code, or 128 and the signal, as a shell has it.
int RunRecorded(const RunArguments& arguments, const Command& command, RunFolder& folder,
                RunRecord& record) {
  const auto write_start = [&record](int pid) {
    record.pid = pid;
    return WriteRunRecord(record);
  };
  if (arguments.exec) {
    const auto written = write_start(getpid());
    const StartFailure failure =
        written ? Execute(command) : StartFailure{written.error(), kExitRunFailed};
    folder.Remove();
    return Fail(failure.error, failure.exit_code);
  }
  const Outcome outcome = StartAndWait(command, write_start);
  if (outcome.failure) {
    folder.Remove();
    return Fail(outcome.failure->error, outcome.failure->exit_code);
  }
  record.pid = outcome.pid;
  record.end = ReadClocks();
  record.ending = outcome.ending;
  if (auto written = WriteRunRecord(record); !written) PrintError(written.error());
  Summarise(arguments, folder);
  return outcome.ending->signal != 0 ? 128 + outcome.ending->signal : outcome.ending->exit_code;
}

// Where a standard stream is closed, a file of ours would get its number, and what is said on
// standard error would be written into it. The program gets its streams as they were: closed.
void KeepStandardStreamsTaken() {
  while (true) {
    const int file = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (file < 0 || file > STDERR_FILENO) {
      if (file >= 0) close(file);
      return;
    }
  }
}

// CLI11 reads "-1" as a size of 16 exabytes.
std::string NotNegative(const std::string& text) {
  return text.starts_with('-') ? "expected a size such as 64M, got " + text : "";
}

int RunRun(const RunArguments& arguments, const Invocation& invocation) {
  KeepStandardStreamsTaken();
  if (invocation.command.empty()) {
    return Fail({ErrorCode::kUsage,
                 "expected a command behind --, as in: cuproof run -- python train.py", "",
                 std::nullopt});
  }
  Command command;
  command.words.assign(invocation.command.begin(), invocation.command.end());
  command.sigpipe = invocation.inherited_sigpipe;
  const auto program = LookAtProgram(command.words[0]);
  if (!program) {
    return Fail(program.error(), program.error().code == ErrorCode::kNotFound ? 127 : 126);
  }
  EnvironmentOptions where;
  where.use_process_library_path = true;
  const Environment environment = FindEnvironment(where);
  FileCache files;
  const Preloads preloads = ReadPreloads();
  const auto others = CheckPreloads(preloads, environment, files);
  if (!others) return Fail(others.error());
  if (!program->preload) return RunUnrecorded(arguments, command, program->notes.back());
  const auto search = FindDriver(environment, files);
  if (!search) return Fail(search.error());
  if (!search->driver) return RunUnrecorded(arguments, command, search->why_none);

  auto folder = RunFolder::Make(arguments.folder);
  if (!folder) return Fail(folder.error());
  const auto shim = WriteLibraries(*folder, *search->driver, arguments.options);
  if (!shim) {
    folder->Remove();
    return Fail(shim.error());
  }
  command.preload = WithShim(*shim, preloads.variable);

  RunRecord record;
  record.version = CUPROOF_VERSION;
  record.command = command.words;
  record.folder = folder->path();
  record.driver_path = search->driver->path;
  record.driver_build_id = search->driver->build_id;
  record.driver_symbols = search->driver->exports.size();
  record.options = arguments.options;
  AddNotes(record.notes, folder->notes());
  AddNotes(record.notes, program->notes);
  AddNotes(record.notes, *others);
  const char* injection = std::getenv("CUDA_INJECTION64_PATH");  // NOLINT(concurrency-mt-unsafe)
  if (injection && *injection) {
    record.notes.push_back(
        fmt::format("CUDA_INJECTION64_PATH is set: the driver loads {}, too", injection));
  }
  for (const std::string& note : record.notes) Say(arguments, note);
  record.start = ReadClocks();
  return RunRecorded(arguments, command, *folder, record);
}

}  // namespace

void AddRunCommand(CLI::App& app, int& exit_code, const Invocation& invocation) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run",
                                         "run a program and record what it asks of the CUDA "
                                         "driver: cuproof run [OPTIONS] -- COMMAND...");
  command
      ->add_option("-o,--output", arguments->folder,
                   "folder to record in: a new or an empty one (default: "
                   "./cuproof-run-DATE-TIME-PID)")
      ->check(NotEmpty());
  command
      ->add_option(
          "--mode", arguments->mode,
          "flight: every call, with its time; timed: also how long it took; idle: nothing, "
          "to see what being there costs")
      ->check(CLI::IsMember({"flight", "timed", "idle"}))
      ->capture_default_str();
  command->add_flag("--dump-images", arguments->options.dump_images,
                    "copy every image that is loaded into the folder, once");
  command
      ->add_option("--ring-records", arguments->options.records,
                   "calls kept of each thread, of 64 bytes: a power of two")
      ->check(CLI::Range(16u, 1u << 24))
      ->capture_default_str();
  command
      ->add_option("--rings", arguments->options.max_rings,
                   "threads of a process that get a ring of their own; the rest share one")
      ->check(CLI::Range(1u, 65536u))
      ->capture_default_str();
  command
      ->add_option("--max-events", arguments->options.event_bytes,
                   "bytes of rare events (loads, errors) kept of each process: 64M, 1G")
      ->check(NotNegative)
      ->transform(CLI::AsSizeValue(false))
      ->default_str("64M");
  command
      ->add_option("--max-images", arguments->options.image_bytes,
                   "bytes of images copied for each process")
      ->check(NotNegative)
      ->transform(CLI::AsSizeValue(false))
      ->default_str("1G");
  command->add_flag("--exec", arguments->exec,
                    "become the program, under the same process id: no summary at the end");
  command->add_flag("--no-summary", arguments->no_summary, "print no summary at the end");
  command->add_flag("--quiet", arguments->quiet, "print nothing but errors of cuproof's own");
  command->footer(
      "Exit codes: those of the program; 128 and the signal that ended it; 125 cuproof could not "
      "do "
      "it; 126 the command cannot be executed; 127 there is no such command.");
  command->callback([arguments, &invocation, &exit_code] {
    if (!std::has_single_bit(arguments->options.records)) {
      throw CLI::ValidationError("--ring-records", "expected a power of two");
    }
    arguments->options.mode = arguments->mode == "timed"  ? Mode::kTimed
                              : arguments->mode == "idle" ? Mode::kIdle
                                                          : Mode::kFlight;
    exit_code = RunRun(*arguments, invocation);
  });
}

}  // namespace cuproof
