#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "driver_api.h"
#include "target/target.h"

// A test double of the public driver API: enough state to answer as a driver would, and no GPU.
// What it is like is set by the environment:
//
//   CUPROOF_MODEL_DEVICES=9.0,8.0       compute capabilities (default: one of 9.0)
//   CUPROOF_MODEL_DRIVER=13000          what cuDriverGetVersion says
//   CUPROOF_MODEL_FAULT=cuLaunchKernelEx:3=701,cuLaunchKernel:2~700
//                                       the third call returns 701; after the second, which returns
//                                       0, its context is broken: whatever waits next gets 700
//   CUPROOF_MODEL_GRAPH_CHECK=launch    kernel nodes are checked at cuGraphLaunch, not at
//   instantiate
//
// It never answers a private table (cuGetExportTable): NVIDIA's runtime cannot run on it.
namespace cuproof::model {

struct Kernel {
  std::string name;
  uint32_t registers = 32;
  uint32_t static_shared = 0;
  uint32_t max_threads = 0;            // compiled in; 0: no bound
  uint32_t dynamic_limit = 48 * 1024;  // raised by cuFuncSetAttribute
  int64_t ordinal = 0;                 // of the device that it was loaded for
  void* module = nullptr;
};

struct LoadedModule {
  CUresult failure = CUDA_SUCCESS;  // of a library: what its kernels cannot be had for
  std::vector<std::unique_ptr<Kernel>> kernels;
};

struct Node {
  int type = 0;  // CUgraphNodeType
  CUDA_KERNEL_NODE_PARAMS kernel = {};
  std::shared_ptr<struct Graph> child;
  struct Graph* graph = nullptr;
};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
};

struct Exec {
  std::vector<Node> nodes;
};

struct Capture {
  int mode = CU_CAPTURE_GLOBAL;
  uint64_t id = 0;
  CUstream origin = nullptr;
  bool valid = true;
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  std::set<CUstream> forked;  // and not joined
};

struct Stream {
  unsigned flags = 0;
  int64_t ordinal = 0;
  std::shared_ptr<Capture> capture;
};

struct Event {
  std::weak_ptr<Capture> capture;
  CUstream stream = nullptr;
};

struct Context {
  int64_t ordinal = 0;
  CUresult broken = CUDA_SUCCESS;  // a sticky error
};

struct World {
  std::recursive_mutex mutex;
  int process = 0;  // that called cuInit
  int version = 13000;
  bool check_at_launch = false;
  std::vector<Gpu> gpus;
  std::vector<std::unique_ptr<Context>> primary;  // by ordinal
  std::map<void*, std::unique_ptr<Context>> contexts;
  std::map<void*, std::unique_ptr<LoadedModule>> modules;
  std::map<void*, std::unique_ptr<Stream>> streams;
  std::map<void*, std::unique_ptr<Event>> events;
  std::map<void*, std::unique_ptr<Graph>> graphs;
  std::map<void*, std::unique_ptr<Exec>> execs;
  std::map<uint64_t, std::unique_ptr<char[]>> memory;
  std::set<void*> kernels;  // that are loaded
  std::map<std::string, uint64_t> calls;
  uint64_t captures = 0;
  CUlogsCallback log = nullptr;
  void* log_data = nullptr;
};

World& TheWorld();
/// Of the calling thread; null: none.
Context* CurrentContext();
void SetCurrentContext(Context* context);

/// Runs `body` as a call of that name: under the lock, after the scripted faults, and with what the
/// driver says at a failure.
CUresult Call(const char* name, const std::function<CUresult()>& body);
/// As Call, for the few that need no cuInit.
CUresult EarlyCall(const char* name, const std::function<CUresult()>& body);

/// One line of the error log, on this thread.
void Say(const std::string& text);
const char* ErrorName(CUresult error);

/// The error that a context keeps, or nothing.
CUresult Sticky();

/// Loads an image of `bytes` (its size is unknown, as in the real API).
CUresult LoadImage(const void* image, size_t limit, std::unique_ptr<LoadedModule>& module);
/// The launch checks of a driver; a clause for each that fails.
CUresult CheckLaunch(const Kernel& kernel, const CUlaunchConfig& config);

/// Null where the stream is a default one.
Stream* FindStream(CUstream stream);
/// Where work on this stream goes: to a capture, to the GPU, or nowhere with an error.
CUresult EnterStream(CUstream stream, bool per_thread, std::shared_ptr<Capture>& capture);
/// For calls that may not be made while a stream is captured in the global mode.
CUresult RefuseInCapture(const char* name);

}  // namespace cuproof::model
