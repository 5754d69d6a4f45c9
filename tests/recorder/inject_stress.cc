// The preloaded library linked into a program, so that a sanitizer can watch it: many threads that
// launch, make streams, capture, load modules and fail, while others come and go, and a child by
// fork. Usage: inject_stress DRIVER FOLDER ROUNDS. The slots stand in for the shim's trampolines.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "trace/record.h"

namespace {

const char* const kNames[] = {"cuGetProcAddress_v2",     "cuGraphInstantiateWithFlags",
                              "cuGraphLaunch",           "cuInit",
                              "cuLaunchKernel",          "cuLaunchKernelEx",
                              "cuMemAllocAsync",         "cuModuleGetFunction",
                              "cuModuleLoadData",        "cuModuleUnload",
                              "cuStreamBeginCapture_v2", "cuStreamCreate",
                              "cuStreamDestroy_v2",      "cuStreamEndCapture",
                              "cuStreamSynchronize"};
constexpr uint32_t kCount = sizeof kNames / sizeof kNames[0];
void* slots[kCount];
cuproof::trace::ShimTable table;

template <typename... Arguments>
int Call(const char* name, Arguments... arguments) {
  for (uint32_t i = 0; i < kCount; ++i) {
    if (std::strcmp(kNames[i], name) != 0) continue;
    void* target = __atomic_load_n(&slots[i], __ATOMIC_ACQUIRE);
    if (target == nullptr) target = cuproof_resolve(&table, i);
    return reinterpret_cast<int (*)(Arguments...)>(target)(arguments...);
  }
  std::abort();
}

int Launch(void* function, void* stream, unsigned block) {
  return Call("cuLaunchKernel", function, 1U, 1U, 1U, block, 1U, 1U, 0U, stream,
              static_cast<void**>(nullptr), static_cast<void**>(nullptr));
}

void Work(int rounds, void* function) {
  for (int round = 0; round < rounds; ++round) {
    void* stream = nullptr;
    void* graph = nullptr;
    void* exec = nullptr;
    Call("cuStreamCreate", &stream, 1U);
    for (int i = 0; i < 50; ++i) Launch(function, stream, 64);
    Launch(function, stream, 70000);
    Call("cuStreamBeginCapture_v2", stream, 0);
    Launch(function, stream, 32);
    void* memory = nullptr;
    Call("cuMemAllocAsync", &memory, size_t{4096}, stream);
    Call("cuStreamEndCapture", stream, &graph);
    Call("cuGraphInstantiateWithFlags", &exec, graph, 0ULL);
    for (int i = 0; i < 5; ++i) Call("cuGraphLaunch", exec, stream);
    void* module = nullptr;
    void* other = nullptr;
    Call("cuModuleLoadData", &module, static_cast<const void*>("//\n.version 8.0\n"));
    Call("cuModuleGetFunction", &other, module, "other");
    Launch(other, stream, 1);
    Call("cuModuleUnload", module);
    Call("cuStreamSynchronize", stream);
    Call("cuStreamDestroy_v2", stream);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  table = {cuproof::trace::kShimMagic,
           kCount,
           0,
           kNames,
           slots,
           argv[1],
           argv[2],
           0,
           256,
           4,
           1 << 20,
           1 << 20};
  const int rounds = std::atoi(argv[3]);
  void* module = nullptr;
  void* function = nullptr;
  std::vector<std::thread> first;
  // The first call by many at once.
  for (int i = 0; i < 8; ++i) first.emplace_back([] { Call("cuInit", 0U); });
  for (std::thread& thread : first) thread.join();
  Call("cuModuleLoadData", &module, static_cast<const void*>("//\n.version 8.0\n"));
  Call("cuModuleGetFunction", &function, module, "kernel");
  for (int wave = 0; wave < 3; ++wave) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back(Work, rounds, function);
    for (std::thread& thread : threads) thread.join();
  }
  const pid_t child = fork();
  if (child == 0) {
    Work(2, function);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("done %d\n", WEXITSTATUS(status));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
