#include "trace/event_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>

#include "symbol/demangle.h"
#include "trace/json_fields.h"

namespace cuproof::trace {
namespace {

using Line = nlohmann::json;

Moment MomentOf(const Line& line) { return {Unsigned(line, "ts"), Id(line, "tid")}; }

std::optional<Extent> ExtentOf(const Line& line, const char* name) {
  const Line* list = Member(line, name);
  if (!list || !list->is_array() || list->size() != 3) return std::nullopt;
  Extent extent;
  for (size_t i = 0; i < 3; ++i) extent[i] = UnsignedOf((*list)[i]);
  return extent;
}

std::vector<GraphKernel> KernelsOf(const Line& line) {
  std::vector<GraphKernel> kernels;
  const Line* list = Member(line, "kernels");
  if (!list || !list->is_array()) return kernels;
  for (const Line& entry : *list) {
    if (!entry.is_object()) continue;
    GraphKernel kernel;
    kernel.function = Id(entry, "function");
    kernel.grid = ExtentOf(entry, "grid").value_or(Extent{});
    kernel.block = ExtentOf(entry, "block").value_or(Extent{});
    kernel.shared = Unsigned(entry, "shared");
    kernels.push_back(kernel);
  }
  return kernels;
}

void OnProcess(const Line& line, Process& process) {
  process.executable = Text(line, "exe");
  process.command = Texts(line, "command");
  if (!process.pid) process.pid = Id(line, "pid");
  if (!process.parent) process.parent = Id(line, "ppid");
  const Line* hz = Member(line, "clock_hz");
  if (hz && hz->is_number()) process.estimated_hz = hz->get<double>();
}

void OnDriver(const Line& line, Process& process) {
  if (Member(line, "path")) process.driver_path = Text(line, "path");
  if (const int64_t version = Signed(line, "version"); version > 0)
    process.driver_version = version;
  const Line* absent = Member(line, "absent");
  if (absent && absent->is_array()) process.absent_symbols = absent->size();
  if (absent && absent->is_number()) process.absent_symbols = UnsignedOf(*absent);
}

void OnDevice(const Line& line, Process& process) {
  Device& device = process.devices[Signed(line, "device")];
  device.ordinal = Signed(line, "device");
  if (Member(line, "name")) device.name = Text(line, "name");
  const Line* attributes = Member(line, "attributes");
  if (!attributes || !attributes->is_object()) return;
  for (const auto& [number, value] : attributes->items()) {
    if (const auto key = Number(number)) device.attributes[*key] = SignedOf(value);
  }
}

void OnContext(const Line& line, Process& process) {
  // A second line says the device, once the program has asked for it.
  Context& context = process.contexts[Id(line, "id")];
  context.id = Id(line, "id");
  if (Member(line, "handle")) context.handle = Text(line, "handle");
  if (Member(line, "device")) context.device = Signed(line, "device");
  if (Member(line, "primary")) context.primary = Flag(line, "primary");
}

void OnStream(const Line& line, Process& process) {
  StreamFact stream;
  stream.id = Id(line, "id");
  stream.handle = Text(line, "handle");
  stream.flags = Unsigned(line, "flags");
  stream.priority = Signed(line, "priority");
  stream.context = Id(line, "context");
  stream.seen = Flag(line, "seen");
  process.streams[stream.id] = std::move(stream);
}

void OnImage(const Line& line, Process& process) {
  ImageLoad image;
  image.id = Id(line, "id");
  image.at = MomentOf(line);
  image.api = Text(line, "api");
  image.kind = Text(line, "kind");
  image.size = Unsigned(line, "size");
  image.hash = Text(line, "hash");
  image.file = Text(line, "file");
  image.offset = Unsigned(line, "offset");
  image.result = Signed(line, "result");
  image.ns = Unsigned(line, "ns");
  image.dumped = Text(line, "dumped");
  image.log = Text(line, "log");
  process.images[image.id] = std::move(image);
}

void OnUnload(const Line& line, Process& process) {
  const auto image = process.images.find(Id(line, "image"));
  if (image != process.images.end()) image->second.unloaded = true;
}

void OnDump(const Line& line, Process& process) {
  const auto image = process.images.find(Id(line, "image"));
  if (image != process.images.end()) image->second.dumped = Text(line, "dumped");
}

void OnFirstLaunch(const Line& line, Process& process) {
  Function& function = process.functions[Id(line, "function")];
  function.id = Id(line, "function");
  process.first_launches.push_back({MomentOf(line), function.id, Unsigned(line, "ns")});
}

void OnFunction(const Line& line, Process& process) {
  Function& function = process.functions[Id(line, "id")];
  function.id = Id(line, "id");
  function.name = Text(line, "name");
  function.shown = DemangledOrSame(function.name);
  function.image = Id(line, "image");
  function.api = Text(line, "api");
  function.ns = Unsigned(line, "ns");
}

void OnAttribute(const Line& line, Process& process) {
  Function& function = process.functions[Id(line, "function")];
  function.id = Id(line, "function");
  const int64_t attribute = Signed(line, "attribute");
  function.attributes[attribute] = Signed(line, "value");
  if (Flag(line, "set")) function.set[attribute] = Signed(line, "value");
}

void OnCapture(const Line& line, Process& process) {
  const uint32_t id = Id(line, "id");
  Capture& capture = process.captures[id];
  capture.id = id;
  if (Flag(line, "end")) {
    capture.ended = true;
    capture.result = Signed(line, "result");
    return;
  }
  capture.begun = MomentOf(line);
  capture.stream = Id(line, "stream");
  const Line* mode = Member(line, "mode");
  // CUstreamCaptureMode, as a number or in words.
  static const char* const kModes[] = {"global", "thread-local", "relaxed"};
  if (mode && mode->is_string()) capture.mode = Text(line, "mode");
  if (mode && mode->is_number_integer() && UnsignedOf(*mode) < 3)
    capture.mode = kModes[UnsignedOf(*mode)];
}

void OnGraph(const Line& line, Process& process) {
  GraphExec graph;
  graph.id = Id(line, "id");
  graph.at = MomentOf(line);
  graph.result = Signed(line, "result");
  graph.ns = Unsigned(line, "ns");
  graph.origin = Text(line, "origin");
  const Line* complete = Member(line, "complete");
  graph.complete = !complete || !complete->is_boolean() || complete->get<bool>();
  graph.kernels = KernelsOf(line);
  const Line* nodes = Member(line, "nodes");
  if (nodes && nodes->is_object()) {
    for (const auto& [kind, count] : nodes->items()) {
      if (UnsignedOf(count)) graph.nodes[kind] = UnsignedOf(count);
    }
  }
  process.graphs[graph.id] = std::move(graph);
}

void OnError(const Line& line, Process& process) {
  ApiError error;
  error.at = MomentOf(line);
  error.api = Text(line, "api");
  error.result = Signed(line, "result");
  error.function = Id(line, "function");
  error.grid = ExtentOf(line, "grid");
  error.block = ExtentOf(line, "block");
  if (Member(line, "shared")) error.shared = Unsigned(line, "shared");
  error.stream = Id(line, "stream");
  error.capture = Id(line, "capture");
  error.context = Id(line, "context");
  error.image = Id(line, "image");
  error.graph = Id(line, "graph");
  error.kernels = KernelsOf(line);
  error.count = std::max<uint64_t>(1, Unsigned(line, "count"));
  process.errors.push_back(std::move(error));
}

void OnLog(const Line& line, Process& process) {
  process.log.push_back({MomentOf(line), Signed(line, "level"), Text(line, "text")});
}

void OnTable(const Line&, Process& process) { ++process.private_tables; }

void OnFork(const Line& line, Process& process) {
  process.forked = true;
  if (!process.parent) process.parent = Id(line, "parent");
}

void OnLost(const Line& line, Process& process) {
  process.lost.push_back({Text(line, "what"), Signed(line, "errno")});
}

// Says something of a thing that an earlier line described.
void OnAlias(const Line&, Process&) {}

struct Kind {
  std::string_view event;
  void (*apply)(const Line& line, Process& process);
};

constexpr Kind kKinds[] = {
    {"process", OnProcess},
    {"driver", OnDriver},
    {"device", OnDevice},
    {"context", OnContext},
    {"stream", OnStream},
    {"image", OnImage},
    {"unload", OnUnload},
    {"function", OnFunction},
    {"attribute", OnAttribute},
    {"capture", OnCapture},
    {"graph", OnGraph},
    {"error", OnError},
    {"log", OnLog},
    {"table", OnTable},
    {"fork", OnFork},
    {"lost", OnLost},
    {"alias", OnAlias},
    {"dump", OnDump},
    {"first_launch", OnFirstLaunch},
};

bool Apply(std::string_view text, Process& process) {
  if (text.size() > kMaxLineBytes) return false;
  const Line line = Line::parse(text, nullptr, false);
  if (!line.is_object()) return false;
  const std::string event = Text(line, "event");
  if (event.empty()) return false;
  const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const Kind& entry) { return entry.event == event; });
  if (kind == std::end(kKinds)) {
    ++process.unknown_events;
  } else {
    kind->apply(line, process);
  }
  ++process.events;
  return true;
}

// What tells images apart, the same when one is loaded again.
std::string ImageKey(const Process& process, const ApiError& error) {
  const auto found = process.images.find(error.image);
  if (found == process.images.end()) return {};
  const ImageLoad& image = found->second;
  if (!image.hash.empty()) return image.hash;
  return image.file + '@' + std::to_string(image.file.empty() ? image.id : image.offset);
}

// A line says how many equal errors there have been with it; the second, fourth, eighth and so on
// get one. What it stands for is what came since the line before.
void TurnTotalsIntoCounts(Process& process) {
  std::map<std::tuple<std::string, int64_t, uint32_t, std::string>, uint64_t> totals;
  for (ApiError& error : process.errors) {
    uint64_t& total = totals[{error.api, error.result, error.function, ImageKey(process, error)}];
    const uint64_t now = std::max(error.count, total + 1);
    error.count = now - total;
    error.repeated = now > 1;
    total = now;
  }
}

void ReadLines(ByteView bytes, Process& process) {
  process.events_cut = bytes.size() > kMaxEventBytes;
  std::string_view rest = bytes.Clamp(0, kMaxEventBytes).Text();
  size_t lines = 0;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos) {
      // What a killed process was writing; a whole line that only lacks its end counts.
      process.cut_line = !Apply(rest, process);
      return;
    }
    if (++lines > kMaxEvents) {
      process.events_cut = true;
      return;
    }
    const std::string_view line = rest.substr(0, end);
    if (!line.empty() && !Apply(line, process)) ++process.damaged_lines;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

void ReadEvents(ByteView bytes, Process& process) {
  ReadLines(bytes, process);
  TurnTotalsIntoCounts(process);
}

}  // namespace cuproof::trace
