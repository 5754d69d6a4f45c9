#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bytes/mapped_file.h"
#include "resource/kernel_resources.h"
#include "resource/launch_limits.h"
#include "rule/report.h"
#include "trace/model.h"

// What the explanations of single errors share. Nothing here guesses: a fact that the record does
// not hold has no value, and the caller says what to run to know it.
namespace cuproof::explain {

/// One error of one process.
struct ErrorContext {
  const trace::Run& run;
  const trace::Process& process;
  const trace::ApiError& error;
};

/// "701 (CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)"; the number alone where the tables have no name.
std::string ErrorText(int64_t result);

/// A finding about the error's process, with the source and what it was verified on.
Finding NewFinding(const ErrorContext& context, std::string id, Severity severity);

/// The GPU that the call was for. No value: the record does not tell, or several differ.
std::optional<Gpu> GpuOf(const ErrorContext& context);
/// "sm_90 (NVIDIA H200)", or "the GPU".
std::string GpuText(const std::optional<Gpu>& gpu);
/// An attribute of the call's device, as the program was told.
std::optional<int64_t> DeviceAttribute(const ErrorContext& context, int64_t attribute);
/// The limits of its GPU: from the tables, and over them what the driver told the program.
std::optional<LaunchLimits> LimitsOf(const ErrorContext& context);

/// The bytes of an image, and how to name it.
struct ImageBytes {
  std::optional<MappedFile> file;
  ByteView bytes;
  std::string why_not;  // there are no bytes
};
ImageBytes OpenImage(const trace::Run& run, const trace::ImageLoad& image);
/// "image 3 (fatbin, 4,096 bytes, images/0123.fatbin)".
std::string ImageName(const trace::ImageLoad& image);

/// A number, and where it comes from: "as the driver told the program".
struct Known {
  int64_t value = 0;
  std::string source;
};

/// What is known of a kernel.
struct KernelFacts {
  std::string name;  // demangled
  std::optional<Known> registers;
  std::optional<Known> compiled_threads;  // the block that it was compiled for: .maxntid
  std::optional<Known> max_threads;       // the driver's answer: the least of all limits
  std::optional<Known> static_shared;
  std::optional<Known> dynamic_limit;  // of shared memory, by opt-in
  std::optional<bool> ptx;             // its module holds PTX
};
KernelFacts FactsOf(const ErrorContext& context, uint32_t function);

/// A launch: of the call itself, or of a kernel node.
struct LaunchShape {
  trace::Extent grid = {};
  trace::Extent block = {};
  uint64_t shared = 0;
  /// Threads of a block; saturated where the product of hostile numbers is too large.
  uint64_t Threads() const;
};
/// "grid 2 x 1 x 1, block 1024 x 1 x 1, 0 bytes of dynamic shared memory".
std::string ShapeText(const LaunchShape& shape);

/// Cut where it is longer than that, behind a whole character: names and texts are input, and one
/// of a megabyte would stand in every explanation.
std::string Shortened(std::string text, size_t bytes);
/// Of a kernel, demangled, and short enough for a sentence.
std::string KernelName(const trace::Process& process, uint32_t function);

/// "65,536".
std::string Grouped(uint64_t value);

/// "cuLaunchKernel"; "a recorded call" where the record has no name.
std::string CallName(const ErrorContext& context);

// One a file. Each gives a finding for the errors that it knows, else nothing.
std::optional<Finding> ExplainFork(const ErrorContext& context);          // CP508
std::optional<Finding> ExplainImage(const ErrorContext& context);         // CP501
std::optional<Finding> ExplainRegisters(const ErrorContext& context);     // CP502
std::optional<Finding> ExplainRange(const ErrorContext& context);         // CP503
std::optional<Finding> ExplainAsynchronous(const ErrorContext& context);  // CP504
std::optional<Finding> ExplainLaunchForm(const ErrorContext& context);    // CP505
std::optional<Finding> ExplainMemory(const ErrorContext& context);        // CP506
Finding ExplainOther(const ErrorContext& context);                        // CP507

/// True for the error of a process that forked with the driver in use: every call returns it.
bool IsOfFork(const trace::Process& process, int64_t result);

/// "record again with `cuproof run --dump-images`"; empty where that has been done.
std::string RecordAgain(const trace::Run& run);

/// True for errors that a context keeps: every later call in it returns them.
bool IsSticky(int64_t result);

/// What may still have been running: the last launches of each stream that nothing had waited for.
std::vector<std::string> LaunchesInFlight(const ErrorContext& context);

}  // namespace cuproof::explain
