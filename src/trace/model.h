#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bytes/result.h"
#include "trace/clock.h"
#include "trace/ring_reader.h"

// What a recorded run left behind, joined by ids. Everything in it is what the files say: names and
// texts are not escaped, numbers are claims. Fields are those of docs/trace.md.
namespace cuproof::trace {

using Extent = std::array<uint64_t, 3>;  // x, y, z

/// When, in the clock of its process, and on which thread.
struct Moment {
  uint64_t clock = 0;
  uint32_t thread = 0;
};

struct Device {
  int64_t ordinal = 0;
  std::string name;
  std::map<int64_t, int64_t> attributes;  // by number of CUdevice_attribute
};

struct Context {
  uint32_t id = 0;
  std::string handle;
  std::optional<int64_t> device;
  bool primary = false;
};

struct StreamFact {
  uint32_t id = 0;
  std::string handle;
  uint64_t flags = 0;
  int64_t priority = 0;
  uint32_t context = 0;
  bool seen = false;  // met without its creation
};

struct ImageLoad {
  uint32_t id = 0;
  Moment at;
  std::string api;
  std::string kind;  // "cubin", "fatbin", "ptx", "path", "unknown"
  uint64_t size = 0;
  std::string hash;
  std::string file;
  uint64_t offset = 0;
  int64_t result = 0;
  uint64_t ns = 0;
  std::string dumped;  // name in images/
  std::string log;     // what the driver wrote into the program's own buffer
  bool unloaded = false;
};

struct Function {
  uint32_t id = 0;
  std::string name;
  std::string shown;  // demangled
  uint32_t image = 0;
  std::string api;
  uint64_t ns = 0;               // of the look-up, in which lazy loading may compile
  uint64_t first_launch_ns = 0;  // of the slowest first launch that did not fail; 0: under 1 ms
  std::map<int64_t, int64_t> attributes;  // by number of CUfunction_attribute
  std::map<int64_t, int64_t> set;         // of these, what the program set
  uint64_t launches = 0;                  // exact, over all threads
};

/// A first launch in a thread that took long.
struct FirstLaunch {
  Moment at;
  uint32_t function = 0;
  uint64_t ns = 0;
};

struct Capture {
  uint32_t id = 0;
  Moment begun;
  uint32_t stream = 0;
  std::string mode;
  bool ended = false;
  int64_t result = 0;
};

struct GraphKernel {
  uint32_t function = 0;
  Extent grid = {};
  Extent block = {};
  uint64_t shared = 0;
};

struct GraphExec {
  uint32_t id = 0;
  Moment at;
  int64_t result = 0;
  uint64_t ns = 0;
  std::string origin;
  std::map<std::string, uint64_t> nodes;  // kind -> count
  bool complete = true;                   // false: nodes may be missing from the counts
  std::vector<GraphKernel> kernels;       // at an error only
  uint64_t launches = 0;                  // among the calls that are still in the rings
};

/// What the driver said about an error.
struct LogLine {
  Moment at;
  int64_t level = 0;  // 0 error, 1 warning
  std::string text;
};

struct ApiError {
  Moment at;
  std::string api;
  int64_t result = 0;
  uint32_t function = 0;
  std::optional<Extent> grid;
  std::optional<Extent> block;
  std::optional<uint64_t> shared;
  uint32_t stream = 0;
  uint32_t capture = 0;
  uint32_t context = 0;
  uint32_t image = 0;
  uint32_t graph = 0;
  std::vector<GraphKernel> kernels;
  uint64_t count = 1;        // equal errors that this line stands for, since the one before
  bool repeated = false;     // later ones need not have a line: the count is the least
  std::vector<LogLine> log;  // the driver's words about it
};

struct Lost {
  std::string what;
  int64_t error = 0;  // errno
};

struct Process {
  std::string stem;  // of its files: "4711", "4711.2"
  uint32_t pid = 0;
  uint32_t parent = 0;
  bool forked = false;  // with the driver in use, and no exec since
  std::string executable;
  std::vector<std::string> command;
  std::string driver_path;
  int64_t driver_version = 0;  // 13000; 0: the program did not ask
  uint64_t absent_symbols = 0;
  std::map<int64_t, Device> devices;
  std::map<uint32_t, Context> contexts;
  std::map<uint32_t, StreamFact> streams;
  std::map<uint32_t, ImageLoad> images;
  std::map<uint32_t, Function> functions;
  std::map<uint32_t, Capture> captures;
  std::map<uint32_t, GraphExec> graphs;
  std::vector<ApiError> errors;
  std::vector<LogLine> log;  // lines that belong to no error
  std::vector<Lost> lost;
  std::vector<FirstLaunch> first_launches;
  uint64_t private_tables = 0;
  std::optional<RingFile> ring;
  ClockMap clock;
  double estimated_hz = 0;
  uint64_t damaged_lines = 0;
  bool cut_line = false;        // the last one: the process was killed, or is at it
  bool events_cut = false;      // more events than this reader takes
  bool events_missing = false;  // there is no PID.jsonl, or nothing in it
  uint64_t events = 0;          // lines that were understood
  uint64_t unknown_events = 0;  // of kinds that this version does not know
};

/// run.json, and every process.
struct Run {
  std::string folder;
  std::string version;  // of the cuproof that recorded
  std::vector<std::string> command;
  std::string driver_path;
  std::string driver_build;
  std::string mode;          // "flight", "timed", "idle"; empty: not recorded
  bool dump_images = false;  // every image was to be copied
  uint32_t pid = 0;
  std::optional<ClockPair> start;
  std::optional<ClockPair> end;  // none: it runs still, or the launcher was killed
  bool runs = false;             // no end, and the program is a process of this machine
  std::optional<int64_t> exit_code;
  std::optional<int64_t> signal;
  std::vector<std::string> notes;  // what cannot be seen
  std::vector<Process> processes;  // parents before children
  std::vector<Error> problems;     // files that could not be read, or not to the end
};

/// "kernel_name" of a function of the process; "a kernel whose name is not known" for 0 and for ids
/// that no event gave.
std::string FunctionName(const Process& process, uint32_t id);

/// Counts of a call over all threads of a process: exact, unless the ring is damaged.
uint64_t CallCount(const Process& process, Op op);
uint64_t KernelLaunches(const Process& process);

/// Kernel launches that returned an error.
struct FailedLaunches {
  uint64_t count = 0;
  bool exact =
      true;  // false: there may be more, among the calls that are not in the rings any more
};
FailedLaunches FailedKernelLaunches(const Process& process);

/// Lines of PID.jsonl are missing, so that what is not in it may still have happened.
bool EventsLost(const Process& process);
/// Every error of the process is in a line of its own, or counted by one.
bool ErrorCountsExact(const Process& process);

}  // namespace cuproof::trace
