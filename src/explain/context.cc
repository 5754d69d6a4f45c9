#include "explain/context.h"

#include <fmt/format.h>

#include <algorithm>

#include "target/facts.h"
#include "target/table.h"

namespace cuproof::explain {
namespace {

// Numbers of CUdevice_attribute.
constexpr int64_t kCapabilityMajor = 75;
constexpr int64_t kCapabilityMinor = 76;
constexpr int64_t kSharedOptin = 97;

const trace::Device* DeviceOf(const ErrorContext& context) {
  const trace::Process& process = context.process;
  const auto found = process.contexts.find(context.error.context);
  if (found != process.contexts.end() && found->second.device) {
    const auto device = process.devices.find(*found->second.device);
    return device == process.devices.end() ? nullptr : &device->second;
  }
  // Of several only if they are alike: which one it was is not recorded.
  const trace::Device* only = nullptr;
  for (const auto& [ordinal, device] : process.devices) {
    const auto major = device.attributes.find(kCapabilityMajor);
    if (major == device.attributes.end()) continue;
    if (only && only->attributes != device.attributes) return nullptr;
    only = &device;
  }
  return only;
}

}  // namespace

std::string ErrorText(int64_t result) {
  const Table& table = Table::Get("error_codes");
  for (size_t i = 0; i < table.size(); ++i) {
    if (ParseNumber(table.At(i, "number")) != result || result <= 0) continue;
    const std::string_view driver = table.At(i, "driver_name");
    return fmt::format("{} ({})", result, driver == "none" ? table.At(i, "runtime_name") : driver);
  }
  return fmt::format("{}", result);
}

Finding NewFinding(const ErrorContext& context, std::string id, Severity severity) {
  Finding finding;
  finding.id = std::move(id);
  finding.severity = severity;
  finding.file = context.process.executable;
  finding.source = "docs/trace.md; data/launch_limits.tsv";
  finding.verified_on = "H200 r580";
  return finding;
}

std::optional<Gpu> GpuOf(const ErrorContext& context) {
  const trace::Device* device = DeviceOf(context);
  if (!device) return std::nullopt;
  const auto major = device->attributes.find(kCapabilityMajor);
  const auto minor = device->attributes.find(kCapabilityMinor);
  if (major == device->attributes.end() || minor == device->attributes.end()) return std::nullopt;
  if (major->second <= 0 || major->second > 99 || minor->second < 0 || minor->second > 9)
    return std::nullopt;
  Gpu gpu;
  gpu.sm = static_cast<uint32_t>(major->second * 10 + minor->second);
  gpu.product = device->name;
  gpu.present = true;
  const ArchFact* fact = FindArch(gpu.sm);
  gpu.in_data = fact != nullptr;
  if (fact) gpu.platform = fact->platform;
  return gpu;
}

std::string GpuText(const std::optional<Gpu>& gpu) {
  if (!gpu) return "the GPU";
  return gpu->product.empty() ? GpuTarget(*gpu)
                              : fmt::format("{} ({})", GpuTarget(*gpu), gpu->product);
}

std::optional<int64_t> DeviceAttribute(const ErrorContext& context, int64_t attribute) {
  const trace::Device* device = DeviceOf(context);
  if (!device) return std::nullopt;
  const auto found = device->attributes.find(attribute);
  if (found == device->attributes.end()) return std::nullopt;
  return found->second;
}

std::optional<LaunchLimits> LimitsOf(const ErrorContext& context) {
  const auto gpu = GpuOf(context);
  if (!gpu) return std::nullopt;
  auto limits = LaunchLimitsOf(gpu->sm);
  if (!limits) return std::nullopt;
  if (const auto optin = DeviceAttribute(context, kSharedOptin); optin && *optin > 0)
    limits->shared_optin = static_cast<uint32_t>(std::min<int64_t>(*optin, UINT32_MAX));
  return limits;
}

uint64_t LaunchShape::Threads() const {
  const auto times = [](uint64_t a, uint64_t b) {
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
  };
  return times(times(block[0], block[1]), block[2]);
}

std::string ShapeText(const LaunchShape& shape) {
  return fmt::format("grid {} x {} x {}, block {} x {} x {}, {} bytes of dynamic shared memory",
                     shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0], shape.block[1],
                     shape.block[2], Grouped(shape.shared));
}

std::string Shortened(std::string text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  text.resize(bytes);
  return text + "...";
}

std::string KernelName(const trace::Process& process, uint32_t function) {
  constexpr size_t kMost = 1000;
  return Shortened(trace::FunctionName(process, function), kMost);
}

std::string Grouped(uint64_t value) {
  std::string text = std::to_string(value);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string RecordAgain(const trace::Run& run) {
  return run.dump_images ? std::string() : "record again with `cuproof run --dump-images`";
}

std::string CallName(const ErrorContext& context) {
  return context.error.api.empty() ? "a recorded call" : context.error.api;
}

}  // namespace cuproof::explain
