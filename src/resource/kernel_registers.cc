#include "resource/kernel_registers.h"

#include <elf.h>
#include <fmt/format.h>

#include <map>
#include <string_view>

#include "image/cubin.h"

namespace cuproof {
namespace {

constexpr uint32_t kSectionInfo = 0x70000000;  // .nv.info and .nv.info.NAME
constexpr uint8_t kMaxThreads = 0x05;
constexpr uint8_t kRequiredThreads = 0x10;
constexpr uint8_t kRegCount = 0x2F;
constexpr uint32_t kReservedShared = 1024;
constexpr std::string_view kText = ".text.";
constexpr std::string_view kInfo = ".nv.info";
constexpr std::string_view kShared = ".nv.shared.";

// A library of NVIDIA's has 2,000 kernels in its largest cubin.
constexpr size_t kMaxKernels = 100'000;

struct Section {
  Elf64_Shdr header = {};
  std::string_view name;
  ByteView content;
};

struct Cubin {
  CubinInfo info;
  std::vector<Section> sections;
  ByteView symbols;
  ByteView symbol_names;
};

std::string_view SymbolName(const Cubin& cubin, uint32_t index) {
  const auto symbol = cubin.symbols.Load<Elf64_Sym>(uint64_t{index} * sizeof(Elf64_Sym));
  return symbol ? cubin.symbol_names.CString(symbol->st_name) : std::string_view();
}

// Items {u8 format, u8 id, ...}; formats 1 to 3 carry two bytes, 4 a size and that many. Anything
// else ends the section.
template <typename Visit>
void ForEachAttribute(ByteView section, Visit visit) {
  uint64_t at = 0;
  while (const auto format = section.Load<uint8_t>(at)) {
    const auto id = section.Load<uint8_t>(at + 1);
    const auto size = section.Load<uint16_t>(at + 2);
    if (!id || !size || *format == 0 || *format > 4) return;
    const ByteView payload = *format == 4 ? section.Clamp(at + 4, *size) : ByteView();
    if (*format == 4 && payload.size() != *size) return;
    visit(*id, payload);
    at += 4 + payload.size();
  }
}

Result<Cubin> Open(ByteView bytes) {
  const auto info = ReadCubin(bytes, true);
  if (!info) return info.error();
  Cubin cubin{*info, {}, {}, {}};
  const auto header = *bytes.Load<Elf64_Ehdr>(0);
  const auto at = [&](uint64_t index) {
    return bytes.Load<Elf64_Shdr>(header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  const auto names_header = at(header.e_shstrndx);
  const ByteView names =
      names_header ? bytes.Clamp(names_header->sh_offset, names_header->sh_size) : ByteView();
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = at(i);
    if (!section) break;
    const bool bits = section->sh_type != SHT_NOBITS;
    cubin.sections.push_back(
        {*section, names.CString(section->sh_name),
         bits ? bytes.Clamp(section->sh_offset, section->sh_size) : ByteView()});
    if (section->sh_type != SHT_SYMTAB) continue;
    cubin.symbols = cubin.sections.back().content;
    const auto strings = at(section->sh_link);
    if (strings) cubin.symbol_names = bytes.Clamp(strings->sh_offset, strings->sh_size);
  }
  return cubin;
}

void ApplyInfo(const Cubin& cubin, const Section& section,
               std::map<std::string_view, KernelRegisters*>& by_name) {
  const bool whole = section.name.size() == kInfo.size();
  const auto own = by_name.find(whole ? "" : section.name.substr(kInfo.size() + 1));
  ForEachAttribute(section.content, [&](uint8_t id, ByteView payload) {
    if (id == kRegCount && payload.size() >= 8) {
      const auto found = by_name.find(SymbolName(cubin, *payload.Load<uint32_t>(0)));
      if (found != by_name.end()) found->second->registers = *payload.Load<uint32_t>(4);
    } else if ((id == kMaxThreads || id == kRequiredThreads) && payload.size() >= 12 &&
               own != by_name.end()) {
      own->second->max_threads = {*payload.Load<uint32_t>(0), *payload.Load<uint32_t>(4),
                                  *payload.Load<uint32_t>(8)};
    }
  });
}

// From sm_90 on the first kilobyte of a kernel's shared memory is the system's: in every ABI 8
// cubin, and in an ABI 7 one that has this symbol.
bool ReservesShared(const Cubin& cubin) {
  if (cubin.info.sm < 90) return false;
  if (cubin.info.abi == 8) return true;
  return cubin.symbol_names.Text().find(".nv.reservedSmem.cap") != std::string_view::npos;
}

}  // namespace

Result<std::vector<KernelRegisters>> ReadKernelRegisters(ByteView bytes) {
  const auto cubin = Open(bytes);
  if (!cubin) return cubin.error();
  std::vector<KernelRegisters> kernels;
  for (const Section& section : cubin->sections) {
    if (section.header.sh_type != SHT_PROGBITS || section.name.size() <= kText.size() ||
        section.name.substr(0, kText.size()) != kText)
      continue;
    if (kernels.size() >= kMaxKernels) {
      return Error{ErrorCode::kTooLarge, fmt::format("more than {} kernels", kMaxKernels), "",
                   std::nullopt};
    }
    KernelRegisters kernel;
    kernel.name = section.name.substr(kText.size());
    // ABI 7 up to sm_89 has them here, too; REGCOUNT, where it stands, comes after.
    if (cubin->info.abi == 7 && cubin->info.sm < 90 && section.header.sh_info >> 24)
      kernel.registers = section.header.sh_info >> 24;
    kernels.push_back(std::move(kernel));
  }
  std::map<std::string_view, KernelRegisters*> by_name;
  for (KernelRegisters& kernel : kernels) by_name.emplace(kernel.name, &kernel);
  for (const Section& section : cubin->sections) {
    if (section.header.sh_type == kSectionInfo &&
        (section.name == kInfo || section.name.substr(0, kInfo.size() + 1) == ".nv.info."))
      ApplyInfo(*cubin, section, by_name);
    if (section.header.sh_type != SHT_NOBITS || section.name.size() <= kShared.size() ||
        section.name.substr(0, kShared.size()) != kShared)
      continue;
    const auto found = by_name.find(section.name.substr(kShared.size()));
    if (found == by_name.end() || section.header.sh_size > UINT32_MAX) continue;
    auto size = static_cast<uint32_t>(section.header.sh_size);
    if (ReservesShared(*cubin)) size = size > kReservedShared ? size - kReservedShared : 0;
    found->second->static_shared = size;
  }
  return kernels;
}

}  // namespace cuproof
