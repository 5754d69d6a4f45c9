#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "resource/kernel_resources.h"

namespace cuproof {

/// A kernel of one file for one architecture, as the gate compares it, wherever its numbers come
/// from: a cubin or a build's log.
struct MeasuredKernel {
  std::string file;       // as the user named it
  std::string arch;       // "sm_90a"
  std::string demangled;  // for people; empty: as `resources.name`
  KernelResources resources;
  bool shared_known = true;
  uint32_t block = 0;                     // threads that occupancy was computed for; 0: not known
  std::optional<uint32_t> warps_per_sm;   // at that block
  uint32_t max_warps = 0;                 // that a multiprocessor holds
  std::optional<uint32_t> largest_block;  // that launches
};

/// The name without what differs from build to build: the hashes of paths and contents that nvcc
/// writes into names of anonymous namespaces and static symbols become '#', and the namespaces that
/// CUB and Thrust name after their release and the architectures of the build lose both.
std::string StableName(const std::string& mangled);

/// The last part of a path or of a wheel's member, without the tags of an interpreter and a build:
/// "_C.cpython-312-x86_64-linux-gnu.so" and "_C.abi3.so" give "_C.so".
std::string StableFile(const std::string& path);

/// StableFile of every file, with as many of its folders as tell it from another of the same name:
/// "q1/lib.so" and "q2/lib.so". Builds of one file for several interpreters stay one.
std::map<std::string, std::string> StableFiles(const std::vector<MeasuredKernel>& kernels);

}  // namespace cuproof
