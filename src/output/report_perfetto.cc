#include "output/report_perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "output/json.h"

namespace cuproof {
namespace {

using trace::Call;
using trace::Op;
using trace::Process;

// Tracks of streams stand beside those of threads, whose ids are those of the system.
constexpr uint64_t kStreamTracks = uint64_t{1} << 33;
// A call whose end was not timed is drawn as long as a launch takes at least.
constexpr double kUntimedUs = 1;

/// Writes events one by one: a run can have millions.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) { out_ += "{\"traceEvents\":[\n"; }
  void Event(const std::string& fields) {
    out_ += first_ ? "{" : ",\n{";
    out_ += fields;
    out_ += '}';
    first_ = false;
  }
  void Finish(const std::string& note) {
    out_ += fmt::format("\n],\"displayTimeUnit\":\"ns\",\"otherData\":{{\"note\":{}}}}}\n",
                        JsonText(note));
  }

 private:
  std::string& out_;
  bool first_ = true;
};

void NameTrack(Writer& writer, const char* what, uint32_t pid, uint64_t tid,
               const std::string& name) {
  writer.Event(fmt::format(R"("ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}})", what,
                           pid, tid, JsonText(name)));
}

class ProcessTracks {
 public:
  ProcessTracks(const Process& process, double origin, Writer& writer)
      : process_(process), origin_(origin), writer_(writer) {}

  void Write() {
    NameTrack(writer_, "process_name", process_.pid, 0,
              process_.executable.empty() ? process_.stem : process_.executable);
    if (process_.ring) {
      std::vector<const Call*> calls;
      for (const Call& call : process_.ring->calls) calls.push_back(&call);
      std::stable_sort(calls.begin(), calls.end(), [](const Call* a, const Call* b) {
        return a->record.clock < b->record.clock;
      });
      for (const Call* call : calls) WriteCall(*call);
    }
    for (const auto& [id, capture] : process_.captures)
      Instant(capture.begun, fmt::format("capture {} of stream {}", id, capture.stream));
    for (const trace::ApiError& error : process_.errors)
      Instant(error.at, fmt::format("{} returned {}", error.api, error.result));
    for (const uint64_t thread : threads_)
      NameTrack(writer_, "thread_name", process_.pid, thread, ThreadName(thread));
    for (const uint32_t stream : streams_) {
      NameTrack(writer_, "thread_name", process_.pid, kStreamTracks + stream,
                stream ? fmt::format("stream {} (order of calls)", stream)
                       : std::string("default stream (order of calls)"));
    }
  }

 private:
  std::optional<double> Microseconds(uint64_t clock) const {
    const auto ns = process_.clock.MonotonicNs(clock);
    if (!ns) return std::nullopt;
    return (*ns - origin_) / 1e3;
  }

  // A ring goes from a thread that ended to a new one: its calls cannot be told apart.
  std::string ThreadName(uint64_t thread) const {
    if (thread == 0) return "threads that share a ring";
    if (process_.ring) {
      for (const trace::RingState& ring : process_.ring->rings) {
        if (ring.number != 0 && ring.thread == thread && ring.owners > 1)
          return fmt::format("{} threads, one after another; the last is {}", ring.owners, thread);
      }
    }
    return fmt::format("thread {}", thread);
  }

  std::string NameOf(const Call& call) const {
    const Op op = static_cast<Op>(call.record.op);
    if (trace::IsKernelLaunch(op)) return trace::FunctionName(process_, call.record.function);
    if (op == Op::kGraphLaunch) return fmt::format("graph {}", call.record.aux);
    return trace::OpName(op);
  }

  void Slice(uint64_t track, double at, double length, const Call& call) {
    const trace::Record& r = call.record;
    writer_.Event(fmt::format(
        R"("ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},)"
        R"("args":{{"result":{},"grid":[{},{},{}],"block":[{},{},{}],"shared":{},"stream":{}}})",
        JsonText(NameOf(call)), trace::OpName(static_cast<Op>(r.op)), process_.pid, track, at,
        length, r.result == trace::kPending ? "\"not returned\"" : std::to_string(r.result),
        r.grid_x, r.grid_yz[0], r.grid_yz[1], r.block[0], r.block[1], r.block[2], r.shared,
        r.stream));
  }

  void WriteCall(const Call& call) {
    const auto at = Microseconds(call.record.clock);
    if (!at) return;
    double length = kUntimedUs;
    if (call.record.flags & trace::kTimed)
      length = process_.clock.DurationNs(call.record.duration).value_or(kUntimedUs * 1e3) / 1e3;
    threads_.insert(call.thread);
    Slice(call.thread, *at, length, call);
    const Op op = static_cast<Op>(call.record.op);
    const bool on_stream = trace::IsKernelLaunch(op) || op == Op::kGraphLaunch ||
                           op == Op::kMemcpy || op == Op::kMemset || op == Op::kMemAllocAsync ||
                           op == Op::kMemFreeAsync || op == Op::kLaunchHostFunc;
    if (on_stream) {
      streams_.insert(call.record.stream);
      Slice(kStreamTracks + call.record.stream, *at, length, call);
    }
    if (op != Op::kMemAllocAsync || call.record.result != 0) return;
    pool_bytes_ += static_cast<double>(call.record.aux);
    writer_.Event(fmt::format(
        R"("ph":"C","name":"bytes of asynchronous allocations, summed","pid":{},"ts":{:.3f},"args":{{"bytes":{:.0f}}})",
        process_.pid, *at, pool_bytes_));
  }

  void Instant(const trace::Moment& moment, const std::string& name) {
    const auto at = Microseconds(moment.clock);
    if (!at) return;
    threads_.insert(moment.thread);
    writer_.Event(fmt::format(R"("ph":"i","s":"t","name":{},"pid":{},"tid":{},"ts":{:.3f})",
                              JsonText(name), process_.pid, moment.thread, *at));
  }

  const Process& process_;
  double origin_;
  Writer& writer_;
  std::set<uint64_t> threads_;
  std::set<uint32_t> streams_;
  double pool_bytes_ = 0;
};

}  // namespace

std::string ReportPerfetto(const trace::Run& run) {
  double origin = run.start ? static_cast<double>(run.start->monotonic_ns) : 0;
  if (!run.start) {
    for (const Process& process : run.processes) {
      if (!process.ring) continue;
      const auto start = static_cast<double>(process.ring->start.monotonic_ns);
      if (origin == 0 || start < origin) origin = start;
    }
  }
  std::string out;
  Writer writer(out);
  uint64_t calls = 0;
  uint64_t lost = 0;
  uint64_t without_clock = 0;
  for (const Process& process : run.processes) {
    ProcessTracks(process, origin, writer).Write();
    if (!process.ring) continue;
    without_clock += !process.clock.MonotonicNs(0);
    calls += process.ring->calls.size();
    for (const trace::RingState& ring : process.ring->rings) lost += ring.overwritten;
  }
  std::string note = fmt::format(
      "the last {} calls; {} earlier ones are not in the rings any more. Streams show the order of "
      "calls, not what ran on the GPU",
      calls, lost);
  if (without_clock)
    note += fmt::format("; of {} processes the clock's rate is not known: left out", without_clock);
  writer.Finish(note);
  return out;
}

}  // namespace cuproof
