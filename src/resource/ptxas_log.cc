#include "resource/ptxas_log.h"

#include <algorithm>
#include <map>
#include <optional>

#include "resource/log_lines.h"

namespace cuproof {
namespace {

// A compilation whose next line has not come for so long was cut out of the log, or failed.
constexpr uint64_t kPatience = 400;
constexpr size_t kMaxKernels = 1'000'000;

constexpr std::string_view kEntryWords = "Compiling entry function";
constexpr std::string_view kPropertiesWords = "Function properties for";
constexpr std::string_view kFrameWords = " bytes stack frame, ";

bool Has(std::string_view line, std::string_view what) {
  return line.find(what) != std::string_view::npos;
}

bool IsFrom(std::string_view line, std::string_view tool) {
  const size_t at = line.find(tool);
  return at != std::string_view::npos && Has(line.substr(at), " info");
}

// "Used 32 registers, used 1 barriers, 2048 bytes smem, 360 bytes cmem[0]"
void ReadConstants(std::string_view line, KernelResources& kernel) {
  kernel.constants.clear();
  constexpr std::string_view kMark = " bytes cmem[";
  for (size_t at = line.find(kMark); at != std::string_view::npos;
       at = line.find(kMark, at + kMark.size())) {
    const size_t start = line.rfind(',', at);
    const std::string_view part = line.substr(start == std::string_view::npos ? 0 : start);
    const auto bytes = NumberBefore(part, kMark);
    const auto bank = NumberAfter(part, kMark);
    if (bytes && bank) kernel.constants.push_back({*bank, *bytes});
  }
}

// What is awaited next of a kernel that was announced.
enum class Awaited : uint8_t { kProperties, kFrame, kUsed };

struct Open {
  size_t kernel = 0;  // index
  Awaited awaited = Awaited::kProperties;
  uint64_t since = 0;  // line
};

template <typename T>
void Raise(std::optional<T>& value, const std::optional<T>& other) {
  if (other && (!value || *other > *value)) value = other;
}

uint64_t BytesOf(const std::optional<Spills>& spills) {
  return spills ? spills->stores + spills->loads : 0;
}

void RaiseFrame(KernelResources& kernel, const std::optional<uint32_t>& frame,
                const std::optional<Spills>& spills) {
  Raise(kernel.stack_frame, frame);
  if (!kernel.spills || BytesOf(spills) > BytesOf(kernel.spills)) kernel.spills = spills;
}

// The worse of two compilations of one kernel. Where the later one is not told, nothing is.
void Worsen(LogKernel& kernel, const LogKernel& earlier) {
  KernelResources& resources = kernel.resources;
  if (kernel.mixed || !resources.registers) return;
  Raise(resources.registers, earlier.resources.registers);
  Raise(resources.barriers, earlier.resources.barriers);
  Raise(resources.cumulative_stack, earlier.resources.cumulative_stack);
  RaiseFrame(resources, earlier.resources.stack_frame, earlier.resources.spills);
  if (earlier.shared_known)
    resources.static_shared = std::max(resources.static_shared, earlier.resources.static_shared);
}

class LogReader {
 public:
  PtxasLog Read(std::string_view text) {
    ForEachLogLine(text, [this](uint64_t number, std::string_view line) {
      log_.lines = number;
      if (log_.kernels.size() < kMaxKernels) ReadLine(number, line);
    });
    for (const auto& [kernel, earlier] : earlier_) Worsen(log_.kernels[kernel], earlier);
    return std::move(log_);
  }

 private:
  void ReadLine(uint64_t number, std::string_view line) {
    if (Has(line, kFrameWords)) return ReadFrame(line);
    const bool linked = IsFrom(line, "nvlink");
    if (linked && Has(line, kPropertiesWords)) {
      const auto name = QuotedAfter(line, kPropertiesWords);
      linked_ = name ? std::optional(LinkedKernel(*name, number)) : std::nullopt;
    } else if (linked && Has(line, "used ") && Has(line, " registers")) {
      ReadLinked(line);
    } else if (Has(line, kEntryWords)) {
      ReadEntry(number, line);
    } else if (IsFrom(line, "ptxas") && Has(line, kPropertiesWords)) {
      ReadProperties(number, line);
    } else if (IsFrom(line, "ptxas") && Has(line, "Used ") && Has(line, " registers")) {
      ReadUsed(number, line);
    } else if (Has(line, "ptxas ")) {
      ReadRemark(number, line);
    }
  }

  size_t KernelNamed(std::string_view name, std::string_view arch, uint64_t number) {
    std::string key = std::string(arch) + ' ' + std::string(name);
    const auto known = by_name_.find(key);
    if (known != by_name_.end()) return known->second;
    LogKernel kernel;
    kernel.arch = arch;
    kernel.resources.name = name;
    kernel.line = number;
    log_.kernels.push_back(std::move(kernel));
    by_name_.emplace(std::move(key), log_.kernels.size() - 1);
    return log_.kernels.size() - 1;
  }

  // nvlink names no architecture: the kernel is that of ptxas where there is only one.
  size_t LinkedKernel(std::string_view name, uint64_t number) {
    size_t found = 0;
    size_t count = 0;
    for (const auto& [key, kernel] : by_name_) {
      if (log_.kernels[kernel].resources.name != name) continue;
      found = kernel;
      ++count;
    }
    return count == 1 ? found : KernelNamed(name, "", number);
  }

  void ReadEntry(uint64_t number, std::string_view line) {
    const auto name = QuotedAfter(line, kEntryWords);
    const size_t at = line.rfind(" for '");
    const auto arch =
        at == std::string_view::npos ? std::nullopt : QuotedAfter(line.substr(at), " for ");
    if (!name || !arch) {
      ++log_.unmatched;
      return;
    }
    const size_t kernel = KernelNamed(*name, *arch, number);
    StartAgain(kernel);
    log_.kernels[kernel].resources.is_entry = true;
    log_.kernels[kernel].mixed = false;
    Drop(kernel);
    open_.push_back({kernel, Awaited::kProperties, number});
  }

  // A kernel that has numbers is compiled once more.
  void StartAgain(size_t index) {
    LogKernel& kernel = log_.kernels[index];
    if (!kernel.resources.registers) return;
    earlier_.emplace_back(index, kernel);
    KernelResources fresh;
    fresh.name = kernel.resources.name;
    kernel.resources = std::move(fresh);
    kernel.shared_known = false;
  }

  void ReadProperties(uint64_t number, std::string_view line) {
    Forget(number);
    std::string_view name = line.substr(line.find(kPropertiesWords) + kPropertiesWords.size());
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    name = name.substr(0, name.find(' '));
    Open* entry = nullptr;
    for (Open& one : open_) {
      if (one.awaited != Awaited::kProperties || log_.kernels[one.kernel].resources.name != name)
        continue;
      // The same kernel for two architectures at once: which of them this is about is not told.
      if (entry) log_.kernels[entry->kernel].mixed = log_.kernels[one.kernel].mixed = true;
      if (!entry) entry = &one;
    }
    if (entry) {
      entry->awaited = Awaited::kFrame;
      entry->since = number;
    } else if (!name.empty()) {
      open_.push_back({KernelNamed(name, "", number), Awaited::kFrame, number});
    }
  }

  // The one kernel that awaits this; null: none, or it could be of several.
  Open* Only(Awaited awaited) {
    Open* only = nullptr;
    bool several = false;
    for (Open& one : open_) {
      // Of those that wait for a frame line where one has passed, some wait for this already.
      const bool maybe = awaited == Awaited::kUsed && one.awaited == Awaited::kFrame &&
                         frames_passed_ > 0 && log_.kernels[one.kernel].mixed;
      if (one.awaited != awaited && !maybe) continue;
      several |= only != nullptr || maybe;
      only = &one;
    }
    if (only && !several) return only;
    ++log_.unmatched;
    return nullptr;
  }

  // A line of one of several kernels has passed: none of them can be told any more. When as many
  // lines as kernels have passed, all of them had theirs.
  void Mix(Awaited awaited) {
    size_t waiting = 0;
    for (Open& one : open_) {
      if (one.awaited != awaited) continue;
      log_.kernels[one.kernel].mixed = true;
      ++waiting;
    }
    size_t& passed = awaited == Awaited::kFrame ? frames_passed_ : used_passed_;
    if (++passed < waiting) return;
    passed = 0;
    std::erase_if(open_, [&](const Open& one) {
      const bool entry = log_.kernels[one.kernel].resources.is_entry;
      return one.awaited == awaited && (awaited == Awaited::kUsed || !entry);
    });
    for (Open& one : open_) {
      if (one.awaited == awaited) one.awaited = Awaited::kUsed;
    }
  }

  void ReadFrame(std::string_view line) {
    Open* const open = Only(Awaited::kFrame);
    if (!open) return Mix(Awaited::kFrame);
    LogKernel& kernel = log_.kernels[open->kernel];
    const auto frame = NumberBefore(line, kFrameWords);
    const auto stores = NumberBefore(line, " bytes spill stores");
    const auto loads = NumberBefore(line, " bytes spill loads");
    if (frame && stores && loads && !kernel.mixed) {
      const Spills spills{*stores, *loads, SpillBasis::kExact};
      // No architecture is named with a function: of several the worst.
      if (kernel.resources.is_entry) kernel.resources.spills.reset();
      if (kernel.resources.is_entry) kernel.resources.stack_frame.reset();
      RaiseFrame(kernel.resources, frame, spills);
    }
    if (kernel.resources.is_entry) {
      open->awaited = Awaited::kUsed;
    } else {
      Drop(open->kernel);
    }
  }

  void ReadUsed(uint64_t number, std::string_view line) {
    Forget(number);
    Open* open = Only(Awaited::kUsed);
    if (!open) return Mix(Awaited::kUsed);
    LogKernel& kernel = log_.kernels[open->kernel];
    if (!kernel.mixed) {
      KernelResources& resources = kernel.resources;
      resources.registers = NumberAfter(line, "Used ");
      resources.barriers = NumberAfter(line, ", used ");
      resources.cumulative_stack = NumberBefore(line, " bytes cumulative stack size");
      resources.static_shared = NumberBefore(line, " bytes smem").value_or(0);
      kernel.shared_known = true;
      ReadConstants(line, resources);
    }
    Drop(open->kernel);
  }

  // nvlink counts the kilobyte that the system reserves from sm_90 on, and names no architecture:
  // its shared memory is not taken.
  void ReadLinked(std::string_view line) {
    if (!linked_) return;
    KernelResources& resources = log_.kernels[*linked_].resources;
    resources.is_entry = true;
    log_.kernels[*linked_].shared_known = false;
    resources.registers = NumberAfter(line, "used ");
    resources.barriers = NumberAfter(line, ", used ");
    resources.cumulative_stack = NumberBefore(line, " stack,");
    ReadConstants(line, resources);
    linked_.reset();
  }

  void ReadRemark(uint64_t number, std::string_view line);

  void Drop(size_t kernel) {
    std::erase_if(open_, [&](const Open& one) { return one.kernel == kernel; });
  }

  void Forget(uint64_t number) {
    std::erase_if(open_, [&](const Open& one) { return number > one.since + kPatience; });
  }

  PtxasLog log_;
  std::map<std::string, size_t, std::less<>> by_name_;
  std::vector<Open> open_;
  std::optional<size_t> linked_;
  std::vector<std::pair<size_t, LogKernel>> earlier_;  // compilations of kernels that came again
  size_t frames_passed_ = 0;                           // that could be of several kernels
  size_t used_passed_ = 0;
};

struct RemarkForm {
  std::string_view words;
  LogRemarkKind kind;
};
constexpr RemarkForm kForms[] = {
    {"Registers are spilled to local memory", LogRemarkKind::kSpilled},
    {"Local memory used for function", LogRemarkKind::kLocalMemory},
    {"wgmma.mma_async instructions are serialized", LogRemarkKind::kSerialized},
    {"'setmaxnreg' ignored", LogRemarkKind::kSetmaxnregIgnored},
    {"Potential Performance Loss", LogRemarkKind::kOtherLoss},
    {"uses too much shared data", LogRemarkKind::kTooMuchShared},
    {"(C7600)", LogRemarkKind::kTooFewRegisters},
    {"(C7602)", LogRemarkKind::kTooFewRegisters},
};

const RemarkForm* FormOf(std::string_view line) {
  for (const RemarkForm& form : kForms) {
    if (Has(line, form.words)) return &form;
  }
  return nullptr;
}

std::string CodeOf(std::string_view line) {
  const size_t open = line.find("(C");
  const size_t close = line.find(')', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  const std::string_view code = line.substr(open + 1, close - open - 1);
  const bool digits = code.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return digits && code.size() > 1 && code.size() < 8 ? std::string(code) : std::string();
}

// From the mark "(C7510) " or else the colon on.
std::string_view Sentence(std::string_view line, const std::string& code) {
  size_t start = line.find(code.empty() ? std::string(": ") : '(' + code + ") ");
  if (start == std::string_view::npos) return line;
  start += code.empty() ? 2 : code.size() + 3;
  return line.substr(start);
}

void LogReader::ReadRemark(uint64_t number, std::string_view line) {
  const RemarkForm* const form = FormOf(line);
  if (!form) return;
  LogRemark remark;
  remark.kind = form->kind;
  remark.line = number;
  remark.code = CodeOf(line);
  remark.text = Sentence(line, remark.code);
  const size_t at = std::min(remark.text.find("function '"), remark.text.find("Function '"));
  if (at != std::string::npos) {
    const auto name = QuotedAfter(std::string_view(remark.text).substr(at), "unction ");
    if (name) {
      remark.function = *name;
      remark.text.erase(at + 8, remark.function.size() + 3);
    }
  }
  log_.remarks.push_back(std::move(remark));
}

}  // namespace

bool LooksLikePtxasLog(std::string_view text) {
  if (text.substr(0, 4096).find('\0') != std::string_view::npos) return false;
  for (const std::string_view tool : {"ptxas", "nvlink"}) {
    for (size_t at = text.find(tool); at != std::string_view::npos; at = text.find(tool, at + 1)) {
      const std::string_view line = text.substr(at, text.substr(at, kMaxLogLine).find('\n'));
      if (line.find(" : ") != std::string_view::npos &&
          (Has(line, kEntryWords) || Has(line, kPropertiesWords) || Has(line, " registers") ||
           FormOf(line)))
        return true;
    }
  }
  return false;
}

PtxasLog ReadPtxasLog(std::string_view text) { return LogReader().Read(text); }

}  // namespace cuproof
