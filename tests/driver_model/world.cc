#include "world.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "target/facts.h"
#include "target/table.h"

namespace cuproof::model {
namespace {

thread_local Context* current = nullptr;

std::string Setting(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

struct Fault {
  std::string call;
  uint64_t number = 0;
  bool deferred = false;
  int result = 0;
};

const std::vector<Fault>& Faults() {
  static const std::vector<Fault> kFaults = [] {
    std::vector<Fault> faults;
    const std::string text = Setting("CUPROOF_MODEL_FAULT");
    for (const std::string_view entry : SplitList(text, ',')) {
      const size_t colon = entry.find(':');
      const size_t sign = entry.find_first_of("=~");
      if (colon == std::string_view::npos || sign == std::string_view::npos || sign < colon)
        continue;
      faults.push_back({std::string(entry.substr(0, colon)),
                        ParseNumber(entry.substr(colon + 1, sign - colon - 1)), entry[sign] == '~',
                        static_cast<int>(ParseNumber(entry.substr(sign + 1)))});
    }
    return faults;
  }();
  return kFaults;
}

const Fault* FaultOf(std::string_view name, uint64_t number) {
  const auto& faults = Faults();
  const auto found = std::find_if(faults.begin(), faults.end(), [&](const Fault& fault) {
    return fault.call == name && fault.number == number;
  });
  return found == faults.end() ? nullptr : &*found;
}

CUresult Finish(const char* name, CUresult result) {
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY)
    Say(fmt::format("{} returns {}, {}", name, result, ErrorName(result)));
  return result;
}

}  // namespace

World& TheWorld() {
  static World* const kWorld = [] {
    auto* world = new World;
    const std::string version = Setting("CUPROOF_MODEL_DRIVER");
    if (!version.empty()) world->version = std::atoi(version.c_str());
    world->check_at_launch = Setting("CUPROOF_MODEL_GRAPH_CHECK") == "launch";
    std::string devices = Setting("CUPROOF_MODEL_DEVICES");
    if (devices.empty()) devices = "9.0";
    for (const std::string_view device : SplitList(devices, ',')) {
      const Version capability = ParseVersion(device);
      Gpu gpu;
      gpu.sm = capability.major * 10u + capability.minor;
      const ArchFact* arch = FindArch(gpu.sm);
      gpu.in_data = arch != nullptr;
      if (arch) gpu.platform = arch->platform;
      world->gpus.push_back(gpu);
    }
    world->primary.resize(world->gpus.size());
    return world;
  }();
  return *kWorld;
}

Context* CurrentContext() { return current; }
void SetCurrentContext(Context* context) { current = context; }

CUresult EarlyCall(const char* name, const std::function<CUresult()>& body) {
  World& world = TheWorld();
  const std::lock_guard lock(world.mutex);
  const Fault* fault = FaultOf(name, ++world.calls[name]);
  if (fault && !fault->deferred) return Finish(name, fault->result);
  const CUresult result = body();
  if (fault && current) current->broken = fault->result;
  return Finish(name, result);
}

CUresult Call(const char* name, const std::function<CUresult()>& body) {
  return EarlyCall(name, [&]() -> CUresult {
    // After a fork the parent's initialisation is of no use.
    if (TheWorld().process != getpid()) return CUDA_ERROR_NOT_INITIALIZED;
    return body();
  });
}

void Say(const std::string& text) {
  World& world = TheWorld();
  std::string copy = text;
  if (world.log) world.log(world.log_data, 0, copy.data(), copy.size());
}

CUresult Sticky() { return current ? current->broken : CUDA_ERROR_INVALID_CONTEXT; }

const char* ErrorName(CUresult error) {
  switch (error) {
    case CUDA_SUCCESS:
      return "CUDA_SUCCESS";
    case CUDA_ERROR_INVALID_VALUE:
      return "CUDA_ERROR_INVALID_VALUE";
    case CUDA_ERROR_OUT_OF_MEMORY:
      return "CUDA_ERROR_OUT_OF_MEMORY";
    case CUDA_ERROR_NOT_INITIALIZED:
      return "CUDA_ERROR_NOT_INITIALIZED";
    case CUDA_ERROR_INVALID_DEVICE:
      return "CUDA_ERROR_INVALID_DEVICE";
    case CUDA_ERROR_INVALID_IMAGE:
      return "CUDA_ERROR_INVALID_IMAGE";
    case CUDA_ERROR_INVALID_CONTEXT:
      return "CUDA_ERROR_INVALID_CONTEXT";
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
      return "CUDA_ERROR_NO_BINARY_FOR_GPU";
    case CUDA_ERROR_INVALID_PTX:
      return "CUDA_ERROR_INVALID_PTX";
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
      return "CUDA_ERROR_UNSUPPORTED_PTX_VERSION";
    case CUDA_ERROR_FILE_NOT_FOUND:
      return "CUDA_ERROR_FILE_NOT_FOUND";
    case CUDA_ERROR_INVALID_HANDLE:
      return "CUDA_ERROR_INVALID_HANDLE";
    case CUDA_ERROR_NOT_FOUND:
      return "CUDA_ERROR_NOT_FOUND";
    case CUDA_ERROR_NOT_READY:
      return "CUDA_ERROR_NOT_READY";
    case CUDA_ERROR_ILLEGAL_ADDRESS:
      return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
      return "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES";
    case CUDA_ERROR_LAUNCH_FAILED:
      return "CUDA_ERROR_LAUNCH_FAILED";
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
      return "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE";
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
      return "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
      return "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED";
    case CUDA_ERROR_STREAM_CAPTURE_UNMATCHED:
      return "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED";
    case CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
      return "CUDA_ERROR_STREAM_CAPTURE_UNJOINED";
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
      return "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT";
    case CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE:
      return "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE";
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
      return "CUDA_ERROR_INVALID_CLUSTER_SIZE";
    default:
      return "CUDA_ERROR_UNKNOWN";
  }
}

}  // namespace cuproof::model
