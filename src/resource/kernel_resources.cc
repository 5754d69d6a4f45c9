#include "resource/kernel_resources.h"

#include <elf.h>

#include <algorithm>
#include <unordered_map>

#include "resource/calls.h"
#include "resource/cubin_attributes.h"
#include "resource/cubin_sections.h"
#include "resource/source_lines.h"
#include "resource/spills.h"

namespace cuproof {
namespace {

constexpr std::string_view kText = ".text.";
constexpr std::string_view kInfo = ".nv.info";
constexpr std::string_view kShared = ".nv.shared.";
constexpr std::string_view kConstant = ".nv.constant";
constexpr std::string_view kInternal = "$__internal_";  // division and the like, by the compiler
constexpr uint32_t kUnlinkedShared = 0x7000000A;        // shared memory before the device link
constexpr uint32_t kReservedShared = 1024;
constexpr uint32_t kMostRegisters = 255;  // that an instruction can name: all of sm_35 to sm_121
constexpr uint32_t kNoRegisterLimit = 0xFF;
constexpr uint32_t kStackUnknown = 0xFFFFFFFF;  // of recursion, by nvlink

/// What is gathered of one kernel before all of it can be told.
struct Draft {
  KernelResources kernel;
  const CubinSection* text = nullptr;
  SpillOffsets annotated;
  std::vector<InnerFunction> functions;
  std::optional<uint64_t> named_by;  // a kernel's symbol with another name than its section
  bool has_symbol = false;
  bool has_calls = false;
  bool has_inner_frames = false;
  bool has_written_functions = false;  // in its code, and not of the compiler
  bool has_constants = false;
};

class Reader {
 public:
  explicit Reader(const CubinSections& cubin) : cubin_(cubin) {}

  Result<std::vector<KernelResources>> Read() {
    if (auto error = FindKernels()) return *error;
    ReadSymbols();
    for (const CubinSection& section : cubin_.sections()) {
      if (section.type == kInfoSection) ReadInfo(section);
      if (section.type == SHT_NOBITS || section.type == kUnlinkedShared) ReadShared(section);
      if (section.type == SHT_PROGBITS) ReadConstants(section);
    }
    for (const Draft& draft : drafts_) {
      if (!draft.has_symbol && draft.named_by) without_code_ = draft.named_by;
      has_device_functions_ |= draft.has_symbol && !draft.kernel.is_entry;
    }
    std::vector<KernelResources> kernels;
    kernels.reserve(drafts_.size());
    for (Draft& draft : drafts_) kernels.push_back(Finish(draft));
    if (without_code_) kernels.push_back(WithoutCode(*without_code_));
    return kernels;
  }

 private:
  // Of several the first: names of symbols can overlap.
  KernelResources WithoutCode(uint64_t symbol) const {
    KernelResources kernel;
    kernel.name = cubin_.symbol_names().substr(
        std::min<uint64_t>(cubin_.Symbol(symbol).name, cubin_.symbol_names().size()));
    kernel.name.resize(std::min(kernel.name.find('\0'), kernel.name.size()));
    kernel.is_entry = true;
    kernel.damaged = true;
    kernel.abi = cubin_.info().abi;
    kernel.sm = cubin_.info().sm;
    kernel.toolkit = cubin_.info().toolkit;
    kernel.relocatable = cubin_.info().relocatable;
    return kernel;
  }

  std::optional<Error> FindKernels() {
    const auto& sections = cubin_.sections();
    uint64_t names = 0;
    for (size_t i = 0; i < sections.size(); ++i) {
      const CubinSection& section = sections[i];
      if (section.type != SHT_PROGBITS || !section.name.starts_with(kText) ||
          section.name.size() == kText.size())
        continue;
      names += section.name.size();
      if (names > cubin_.size()) {
        return Error{ErrorCode::kBadSize, "names of kernels overlap", "", std::nullopt};
      }
      Draft draft;
      draft.text = &section;
      draft.kernel.name = section.name.substr(kText.size());
      if (cubin_.info().abi == 7) ReadOldHeader(section, draft.kernel);
      by_section_.emplace(static_cast<uint32_t>(i), drafts_.size());
      by_name_.emplace(section.name.substr(kText.size()), drafts_.size());
      drafts_.push_back(std::move(draft));
    }
    return std::nullopt;
  }

  // ABI 7 has numbers in the header of the code itself; an attribute, where it stands, comes after.
  void ReadOldHeader(const CubinSection& section, KernelResources& kernel) const {
    if (cubin_.info().sm < 90 && section.info >> 24) kernel.registers = section.info >> 24;
    kernel.barriers = static_cast<uint32_t>(section.flags >> 20 & 0x7F);
  }

  Draft* ByName(std::string_view name) {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &drafts_[found->second];
  }

  void ReadSymbols() {
    auto lines = ReadSourceLines(cubin_);
    for (uint64_t i = 0; i < cubin_.symbol_count(); ++i) {
      const CubinSymbol symbol = cubin_.Symbol(i);
      if (symbol.type != STT_FUNC) continue;
      const auto found = by_section_.find(symbol.section);
      if (found == by_section_.end()) {
        const bool placed = symbol.section != SHN_UNDEF && symbol.section < SHN_LORESERVE;
        if (symbol.is_entry && placed && !without_code_) without_code_ = i;
        continue;
      }
      Draft& draft = drafts_[found->second];
      if (cubin_.IsNamed(symbol, draft.kernel.name)) {
        by_symbol_.emplace(static_cast<uint32_t>(i), found->second);
        draft.has_symbol = true;
        draft.kernel.is_entry = symbol.is_entry;
        if (const auto line = lines.find(static_cast<uint32_t>(i)); line != lines.end()) {
          draft.kernel.source_file = std::move(line->second.file);
          draft.kernel.source_line = line->second.line;
        }
      } else if (symbol.is_entry) {
        draft.named_by = i;
      } else if (symbol.value != 0) {  // at 0 lies the kernel itself, by another name
        by_inner_symbol_.emplace(static_cast<uint32_t>(i), found->second);
        draft.functions.push_back({symbol.value, symbol.size});
        draft.has_written_functions |= !cubin_.StartsWith(symbol, kInternal);
      }
    }
  }

  void ReadInfo(const CubinSection& section) {
    if (section.name == kInfo) {
      ForEachAttribute(section.content, [&](Attribute id, uint16_t, ByteView payload) {
        const auto symbol = payload.Load<uint32_t>(0);
        const auto value = payload.Load<uint32_t>(4);
        if (symbol && value) OfSymbol(id, *symbol, *value);
      });
      return;
    }
    if (!section.name.starts_with(".nv.info.")) return;
    Draft* draft = ByName(section.name.substr(kInfo.size() + 1));
    if (!draft) return;
    const bool whole =
        ForEachAttribute(section.content, [&](Attribute id, uint16_t value, ByteView payload) {
          OfKernel(id, value, payload, *draft);
        });
    draft->kernel.damaged |= !whole;
  }

  void OfSymbol(Attribute id, uint32_t index, uint32_t value) {
    if (id != Attribute::kRegCount && id != Attribute::kFrameSize && id != Attribute::kMinStackSize)
      return;
    if (const auto inner = by_inner_symbol_.find(index);
        inner != by_inner_symbol_.end() && id == Attribute::kFrameSize && value > 0)
      drafts_[inner->second].has_inner_frames = true;
    const auto found = by_symbol_.find(index);
    if (found == by_symbol_.end()) return;
    KernelResources& kernel = drafts_[found->second].kernel;
    if (id == Attribute::kRegCount) {
      if (value <= kMostRegisters) kernel.registers = value;
      kernel.damaged |= value > kMostRegisters;
    }
    if (id == Attribute::kFrameSize) kernel.stack_frame = value;
    if (id != Attribute::kMinStackSize) return;
    if (value == kStackUnknown) {
      kernel.recursion = true;
    } else {
      kernel.cumulative_stack = value;
    }
  }

  void OfKernel(Attribute id, uint16_t value, ByteView payload, Draft& draft) {
    KernelResources& kernel = draft.kernel;
    switch (id) {
      case Attribute::kRequiredThreads:
        kernel.required_threads = Triple(payload, kernel.max_threads) || kernel.required_threads;
        break;
      case Attribute::kMaxThreads:
        Triple(payload, kernel.max_threads);
        break;
      case Attribute::kCluster:
        Triple(payload, kernel.cluster);
        break;
      case Attribute::kMaxClusterRank:
        kernel.max_cluster_rank = payload.Load<uint32_t>(0);
        break;
      case Attribute::kParameter:
      case Attribute::kParameterV2:
        AddParameter(id == Attribute::kParameterV2, payload, kernel);
        break;
      case Attribute::kParameterBytes:
        kernel.parameter_bytes = value;
        break;
      case Attribute::kRegisterLimit:
        if (value != kNoRegisterLimit) kernel.register_limit = value;
        break;
      case Attribute::kBarriers:
        kernel.barriers = value & 0xFFu;
        break;
      case Attribute::kVirtualResources:
        kernel.virtual_resources = value & 0xFFu;
        break;
      case Attribute::kToolkit:
        ReadToolkit(payload, kernel);
        break;
      case Attribute::kCallStack:
        draft.has_calls = true;
        break;
      case Attribute::kAnnotations:
        AddAnnotations(payload, draft.annotated);
        break;
      default:
        break;
    }
  }

  static bool Triple(ByteView payload, std::optional<std::array<uint32_t, 3>>& triple) {
    if (payload.size() < 12) return false;
    triple = {*payload.Load<uint32_t>(0), *payload.Load<uint32_t>(4), *payload.Load<uint32_t>(8)};
    return true;
  }

  static void AddParameter(bool v2, ByteView payload, KernelResources& kernel) {
    if (payload.size() < 12) return;
    const auto last = *payload.Load<uint32_t>(8);
    kernel.parameters.push_back(
        {*payload.Load<uint16_t>(4), *payload.Load<uint16_t>(6), v2 ? last : last >> 18});
  }

  static void ReadToolkit(ByteView payload, KernelResources& kernel) {
    const uint32_t tens = payload.Load<uint32_t>(0).value_or(0);
    if (kernel.toolkit.known() || tens < 50 || tens >= 1000) return;
    kernel.toolkit = {static_cast<uint16_t>(tens / 10), static_cast<uint16_t>(tens % 10)};
  }

  static void AddAnnotations(ByteView payload, SpillOffsets& annotated) {
    constexpr uint32_t kSpill = 1;
    for (uint64_t at = 0; at + 8 <= payload.size(); at += 8) {
      if (payload.Load<uint32_t>(at) == kSpill)
        annotated.push_back(*payload.Load<uint32_t>(at + 4));
    }
  }

  void ReadShared(const CubinSection& section) {
    if (!section.name.starts_with(kShared)) return;
    Draft* draft = ByName(section.name.substr(kShared.size()));
    if (!draft || section.size > UINT32_MAX) return;
    auto size = static_cast<uint32_t>(section.size);
    // From sm_90 on the linker puts the system's kilobyte before it: ptxas 11.8 to 13.5.
    const bool reserved = cubin_.info().sm >= 90 && section.type == SHT_NOBITS;
    if (reserved && size >= kReservedShared) size -= kReservedShared;
    draft->kernel.static_shared = size;
  }

  // ".nv.constant0.NAME" is the kernel's, ".nv.constant3" that of all.
  void ReadConstants(const CubinSection& section) {
    if (!section.name.starts_with(kConstant)) return;
    std::string_view rest = section.name.substr(kConstant.size());
    uint32_t bank = 0;
    size_t digits = 0;
    for (; digits < rest.size() && digits < 3 && rest[digits] >= '0' && rest[digits] <= '9';
         ++digits) {
      bank = bank * 10 + static_cast<uint32_t>(rest[digits] - '0');
    }
    rest.remove_prefix(digits);
    if (digits == 0) return;
    if (rest.empty()) shared_banks_.push_back({bank, section.size});
    if (!rest.starts_with('.')) return;
    if (Draft* draft = ByName(rest.substr(1))) {
      draft->kernel.constants.push_back({bank, section.size});
      draft->has_constants |= bank == 0;
    }
  }

  KernelResources Finish(Draft& draft) const {
    KernelResources& kernel = draft.kernel;
    kernel.abi = cubin_.info().abi;
    kernel.sm = cubin_.info().sm;
    kernel.relocatable = cubin_.info().relocatable;
    if (cubin_.info().toolkit.known()) kernel.toolkit = cubin_.info().toolkit;
    // Without a symbol: only kernels have parameters in a bank of their own.
    if (!draft.has_symbol) kernel.is_entry = draft.has_constants;
    std::sort(draft.functions.begin(), draft.functions.end(),
              [](const InnerFunction& a, const InnerFunction& b) { return a.start < b.start; });
    // A kernel without the attribute has no barriers; a damaged one may have lost it.
    if (kernel.damaged) {
      kernel.barriers.reset();
    } else {
      if (!kernel.barriers) kernel.barriers = 0;
      const auto spills = CountSpills(draft.text->content, kernel.sm, kernel.toolkit,
                                      draft.annotated, draft.functions);
      if (spills) {
        kernel.spills = spills->own;
        kernel.callee_spills = spills->functions;
      }
    }
    if ((draft.has_calls || kernel.damaged) && MayCallFunctions(draft)) ApplyCalls(draft);
    // Then the attribute has the frames of both, in some code as the one and in some as the other
    // (ptxas 13.0 prints 160 and 0, or 0 and 152).
    if (draft.has_inner_frames || kernel.indirect_calls) kernel.stack_frame.reset();
    kernel.constants.insert(kernel.constants.end(), shared_banks_.begin(), shared_banks_.end());
    std::sort(kernel.constants.begin(), kernel.constants.end(),
              [](const ConstantBank& a, const ConstantBank& b) { return a.bank < b.bank; });
    std::sort(
        kernel.parameters.begin(), kernel.parameters.end(),
        [](const KernelParameter& a, const KernelParameter& b) { return a.ordinal < b.ordinal; });
    return std::move(kernel);
  }

  // Calls of the system, as assert and printf make them, go through a register, too: where nobody
  // wrote a function that a pointer could lead to, a call is one of those.
  bool MayCallFunctions(const Draft& draft) const {
    return draft.has_written_functions || has_device_functions_ || cubin_.info().relocatable;
  }

  void ApplyCalls(Draft& draft) const {
    KernelResources& kernel = draft.kernel;
    const CallFacts calls = FindCalls(draft.text->content, kernel.sm, draft.functions);
    kernel.indirect_calls |= calls.indirect;
    kernel.recursion |= calls.recursive;
    if (kernel.recursion) kernel.cumulative_stack.reset();
  }

  const CubinSections& cubin_;
  std::vector<Draft> drafts_;
  std::unordered_map<std::string_view, size_t> by_name_;
  std::unordered_map<uint32_t, size_t> by_section_;
  std::unordered_map<uint32_t, size_t> by_symbol_;
  std::unordered_map<uint32_t, size_t> by_inner_symbol_;  // functions in the code of a kernel
  std::vector<ConstantBank> shared_banks_;
  std::optional<uint64_t> without_code_;  // symbol of a kernel that has no section of code
  bool has_device_functions_ = false;     // in a section of their own
};

}  // namespace

std::optional<uint32_t> StackBytes(const KernelResources& kernel) {
  if (!kernel.cumulative_stack) return kernel.stack_frame;
  return std::max(*kernel.cumulative_stack, kernel.stack_frame.value_or(0));
}

Result<std::vector<KernelResources>> ReadKernelResources(ByteView bytes) {
  const auto cubin = CubinSections::Open(bytes);
  if (!cubin) return cubin.error();
  return Reader(*cubin).Read();
}

}  // namespace cuproof
