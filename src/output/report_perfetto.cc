#include "output/report_perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "output/json.h"

namespace cuproof {
namespace {

using trace::Call;
using trace::Op;
using trace::Process;

// Tracks of streams stand beside those of threads, whose ids are those of the system.
constexpr uint64_t kStreamTracks = uint64_t{1} << 33;
// A call whose end was not recorded is drawn up to the next one, and no longer than this.
constexpr int64_t kUntimedNs = 1000;
constexpr int64_t kRoundingNs = 10;

// Microseconds, as the format wants them.
std::string Decimal(int64_t ns) {
  const auto size = static_cast<uint64_t>(ns < 0 ? -ns : ns);
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

bool OnStream(Op op) {
  return trace::IsKernelLaunch(op) || op == Op::kGraphLaunch || op == Op::kMemcpy ||
         op == Op::kMemset || op == Op::kMemAllocAsync || op == Op::kMemFreeAsync ||
         op == Op::kLaunchHostFunc;
}

bool HasBytes(Op op) {
  return op == Op::kMemAlloc || op == Op::kMemAllocAsync || op == Op::kMemcpy || op == Op::kMemset;
}

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
    if (process_.ring) WriteCalls();
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
  // Since the start of the run. Whole nanoseconds: what ends where the next begins must not overlap
  // it by a rounding.
  std::optional<int64_t> Nanoseconds(uint64_t clock) const {
    const auto ns = process_.clock.MonotonicNs(clock);
    constexpr double kMost = 1e18;  // a damaged clock
    if (!ns || std::abs(*ns - origin_) > kMost) return std::nullopt;
    return std::llround(*ns - origin_);
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

  // As the text report names them.
  std::string NameOf(const Call& call) const {
    const Op op = static_cast<Op>(call.record.op);
    if (trace::IsKernelLaunch(op)) return trace::FunctionName(process_, call.record.function);
    return trace::OpName(op);
  }

  // What the record holds for this kind of call, and no more.
  std::string Arguments(const Call& call, const std::string& duration) const {
    const trace::Record& r = call.record;
    const Op op = static_cast<Op>(r.op);
    std::string text =
        fmt::format(R"("result":{})",
                    r.result == trace::kPending ? "\"not returned\"" : std::to_string(r.result));
    if (trace::IsKernelLaunch(op))
      text += fmt::format(R"(,"grid":[{},{},{}],"block":[{},{},{}],"shared":{})", r.grid_x,
                          r.grid_yz[0], r.grid_yz[1], r.block[0], r.block[1], r.block[2], r.shared);
    if (op == Op::kGraphLaunch)
      text += fmt::format(R"(,"graph":{})", JsonText(fmt::format("{}/{}", process_.stem, r.aux)));
    if (HasBytes(op)) text += fmt::format(R"(,"bytes":{})", r.aux);
    if (OnStream(op)) text += fmt::format(R"(,"stream":{})", r.stream);
    if (!duration.empty()) text += fmt::format(R"(,"duration":{})", duration);
    return text;
  }

  void Point(uint64_t track, int64_t at, const std::string& category, const Call& call,
             const std::string& duration) {
    writer_.Event(fmt::format(
        R"("ph":"i","s":"t","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"args":{{{}}})",
        JsonText(NameOf(call)), category, process_.pid, track, Decimal(at),
        Arguments(call, duration)));
  }

  // The calls of one thread, in order of time. Slices of a track must lie beside or in one another.
  void WriteThread(uint64_t thread, const std::vector<const Call*>& calls) {
    threads_.insert(thread);
    std::vector<int64_t> open;  // ends of the slices that the next call may lie in
    for (size_t i = 0; i < calls.size(); ++i) {
      const Call& call = *calls[i];
      const auto at = Nanoseconds(call.record.clock);
      if (!at) continue;
      while (!open.empty() && open.back() <= *at) open.pop_back();
      const std::string category = trace::OpName(static_cast<Op>(call.record.op));
      int64_t end = *at + kUntimedNs;
      std::string duration = "\"not recorded\"";
      const auto measured = (call.record.flags & trace::kTimed)
                                ? process_.clock.DurationNs(call.record.duration)
                                : std::nullopt;
      if (measured) {
        end = *at + std::max<int64_t>(1, std::llround(*measured));
        duration.clear();
        if (!open.empty() && end > open.back() + kRoundingNs) {
          // Threads that share a ring: no slice of this track.
          Point(thread, *at, category, call, fmt::format("\"{} ns\"", end - *at));
          continue;
        }
      } else if (i + 1 < calls.size()) {
        if (const auto next = Nanoseconds(calls[i + 1]->record.clock)) end = std::min(end, *next);
      }
      if (!open.empty()) end = std::min(end, open.back());
      if (end <= *at) {
        Point(thread, *at, category, call, duration);
        continue;
      }
      open.push_back(end);
      writer_.Event(fmt::format(
          R"("ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}})",
          JsonText(NameOf(call)), category, process_.pid, thread, Decimal(*at), Decimal(end - *at),
          Arguments(call, duration)));
    }
  }

  void WriteCalls() {
    std::vector<const Call*> calls;
    for (const Call& call : process_.ring->calls) calls.push_back(&call);
    std::stable_sort(calls.begin(), calls.end(), [](const Call* a, const Call* b) {
      return a->record.clock < b->record.clock;
    });
    std::map<uint64_t, std::vector<const Call*>> by_thread;
    for (const Call* call : calls) by_thread[call->thread].push_back(call);
    for (const auto& [thread, own] : by_thread) WriteThread(thread, own);
    double pool_bytes = 0;
    for (const Call* call : calls) {
      const auto at = Nanoseconds(call->record.clock);
      const Op op = static_cast<Op>(call->record.op);
      if (!at) continue;
      if (OnStream(op)) {
        // An instant of a category of its own: the call is counted on the track of its thread.
        streams_.insert(call->record.stream);
        Point(kStreamTracks + call->record.stream, *at, "stream", *call, "");
      }
      if (op != Op::kMemAllocAsync || call->record.result != 0) continue;
      pool_bytes += static_cast<double>(call->record.aux);
      writer_.Event(fmt::format(
          R"("ph":"C","name":"bytes of asynchronous allocations, summed","pid":{},"ts":{},"args":{{"bytes":{:.0f}}})",
          process_.pid, Decimal(*at), pool_bytes));
    }
  }

  void Instant(const trace::Moment& moment, const std::string& name) {
    const auto at = Nanoseconds(moment.clock);
    if (!at) return;
    threads_.insert(moment.thread);
    writer_.Event(fmt::format(R"("ph":"i","s":"t","name":{},"pid":{},"tid":{},"ts":{})",
                              JsonText(name), process_.pid, moment.thread, Decimal(*at)));
  }

  const Process& process_;
  double origin_;
  Writer& writer_;
  std::set<uint64_t> threads_;
  std::set<uint32_t> streams_;
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
      "calls as instants (category stream), not what ran on the GPU. Where \"duration\" is not "
      "recorded a slice ends with the next call, or after 1 us",
      calls, lost);
  if (without_clock)
    note += fmt::format("; of {} processes the clock's rate is not known: left out", without_clock);
  writer.Finish(note);
  return out;
}

}  // namespace cuproof
