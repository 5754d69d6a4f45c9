#include "resource/kernel_resources.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "build_fatbin.h"

namespace cuproof {
namespace {

using build::Number;

// Where the kernel's own attributes stand; the name is that of the only kernel in build::Cubin.
build::Cubin WithInfo(std::string info) {
  build::Cubin cubin;
  cubin.sections = {{".nv.info.probe", 0x70000000, std::move(info)}};
  return cubin;
}

std::string MaxThreads(uint32_t x, uint32_t y, uint32_t z) {
  return Number(0x0504, 2) + Number(12, 2) + Number(x, 4) + Number(y, 4) + Number(z, 4);
}

KernelResources Probe(const build::Cubin& cubin) {
  const std::string bytes = build::CubinBytes(cubin);
  const auto kernels = ReadKernelResources(ByteView(bytes));
  EXPECT_TRUE(kernels);
  EXPECT_EQ(kernels->size(), 1u);
  return kernels->at(0);
}

// A symbol table whose only symbol is the kernel, and the attribute that names it.
std::string WithRegCount(uint32_t symbol, uint32_t registers) {
  Elf64_Sym symbols[2] = {};
  symbols[1].st_name = 1;
  symbols[1].st_info = STT_FUNC;
  symbols[1].st_shndx = 3;  // .text.probe, behind two notes
  build::Cubin cubin;
  cubin.sections = {
      {".strtab", SHT_STRTAB, std::string("\0probe\0", 7)},
      {".symtab", SHT_SYMTAB, std::string(reinterpret_cast<char*>(symbols), sizeof symbols)},
      {".nv.info", 0x70000000,
       Number(0x2F04, 2) + Number(8, 2) + Number(symbol, 4) + Number(registers, 4)}};
  std::string bytes = build::CubinBytes(cubin);
  // The maker writes no links between sections: the symbols' names stand in the section before.
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (uint32_t i = 0; i < header.e_shnum; ++i) {
    const size_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
    Elf64_Shdr section;
    std::memcpy(&section, bytes.data() + at, sizeof section);
    if (section.sh_type == SHT_SYMTAB) section.sh_link = i - 1;
    std::memcpy(bytes.data() + at, &section, sizeof section);
  }
  return bytes;
}

TEST(KernelResources, RegistersAreThoseOfTheSymbolThatTheAttributeNames) {
  const std::string bytes = WithRegCount(1, 168);
  const auto kernels = ReadKernelResources(ByteView(bytes));
  ASSERT_TRUE(kernels);
  ASSERT_EQ(kernels->size(), 1u);
  EXPECT_EQ(kernels->at(0).name, "probe");
  EXPECT_EQ(kernels->at(0).registers, 168u);
  for (const uint32_t symbol : {0u, 2u, UINT32_MAX}) {
    const std::string other = WithRegCount(symbol, 168);
    EXPECT_FALSE(ReadKernelResources(ByteView(other))->at(0).registers) << symbol;
  }
}

TEST(KernelResources, NoInstructionNamesMoreThan255Registers) {
  const std::string bytes = WithRegCount(1, 33'554'442);
  const auto kernels = ReadKernelResources(ByteView(bytes));
  ASSERT_TRUE(kernels);
  ASSERT_EQ(kernels->size(), 1u);
  EXPECT_FALSE(kernels->at(0).registers);
  EXPECT_TRUE(kernels->at(0).damaged);
}

TEST(KernelResources, AKernelWhoseSectionHasAnotherNameIsDamaged) {
  for (const std::string name : {".text.probf", ".tfxt.probe"}) {
    std::string bytes = WithRegCount(1, 168);
    // The kernel's symbol: STO_CUDA_ENTRY.
    Elf64_Sym symbol = {};
    symbol.st_name = 1;
    symbol.st_info = STT_FUNC;
    symbol.st_shndx = 3;
    const std::string plain(reinterpret_cast<const char*>(&symbol), sizeof symbol);
    const size_t at = bytes.find(plain);
    ASSERT_NE(at, std::string::npos);
    bytes[at + offsetof(Elf64_Sym, st_other)] = 0x10;
    bytes.replace(bytes.find(".text.probe"), name.size(), name);
    const auto kernels = ReadKernelResources(ByteView(bytes));
    ASSERT_TRUE(kernels);
    ASSERT_FALSE(kernels->empty());
    EXPECT_EQ(kernels->back().name, "probe") << name;
    EXPECT_TRUE(kernels->back().is_entry);
    EXPECT_TRUE(kernels->back().damaged);
    EXPECT_FALSE(kernels->back().registers);
  }
}

TEST(KernelResources, MaxThreadsAreThoseOfTheKernelsOwnSection) {
  const auto threads = Probe(WithInfo(MaxThreads(256, 2, 1))).max_threads;
  ASSERT_TRUE(threads);
  EXPECT_EQ((*threads)[0], 256u);
  EXPECT_EQ((*threads)[1], 2u);
}

TEST(KernelResources, AttributesBehindDamageAreLeftOut) {
  EXPECT_TRUE(Probe(WithInfo(Number(0x1903, 2) + Number(8, 2) + MaxThreads(1, 1, 1))).max_threads);
  EXPECT_FALSE(Probe(WithInfo(Number(0x1909, 2) + Number(8, 2) + MaxThreads(1, 1, 1))).max_threads);
  EXPECT_FALSE(Probe(WithInfo(Number(0x0504, 2) + Number(99, 2) + Number(1, 4))).max_threads);
}

TEST(KernelResources, SharedMemoryIsWithoutTheSystemsKilobyte) {
  build::Cubin cubin;
  cubin.sections = {{".nv.shared.probe", SHT_NOBITS, {}, 0, 1024 + 4096}};
  EXPECT_EQ(Probe(cubin).static_shared, 4096u);
  cubin.arch = {80, 0};
  EXPECT_EQ(Probe(cubin).static_shared, 1024u + 4096u);
}

TEST(KernelResources, SharedMemoryBeforeTheDeviceLinkHasNoKilobyte) {
  build::Cubin cubin;
  cubin.sections = {{".nv.shared.probe", 0x7000000A, {}, 0, 2000}};
  EXPECT_EQ(Probe(cubin).static_shared, 2000u);
}

std::string Half(uint8_t id, uint16_t value) {
  return Number(0x03u | uint32_t{id} << 8, 2) + Number(value, 2);
}

std::string Item(uint8_t id, const std::string& payload) {
  return Number(0x04u | uint32_t{id} << 8, 2) + Number(payload.size(), 2) + payload;
}

TEST(KernelResources, ParametersComeByOrdinal) {
  const auto kernel = Probe(WithInfo(
      Half(0x19, 24) +
      Item(0x17, Number(0, 4) + Number(1, 2) + Number(8, 2) + Number(4u << 18 | 0x1F000, 4)) +
      Item(0x45, Number(0, 4) + Number(0, 2) + Number(0, 2) + Number(20'000, 4))));
  ASSERT_EQ(kernel.parameters.size(), 2u);
  EXPECT_EQ(kernel.parameters[0].size, 20'000u) << "the newer form has all bits";
  EXPECT_EQ(kernel.parameters[1].offset, 8u);
  EXPECT_EQ(kernel.parameters[1].size, 4u);
  EXPECT_EQ(kernel.parameter_bytes, 24u);
}

TEST(KernelResources, LimitsItWasCompiledWith) {
  EXPECT_FALSE(Probe(WithInfo(Half(0x1B, 0xFF))).register_limit) << "0xFF is none";
  const auto kernel = Probe(WithInfo(Half(0x1B, 0x40) + Half(0x4C, 6) +
                                     Item(0x10, Number(64, 4) + Number(2, 4) + Number(1, 4)) +
                                     Item(0x3F, Number(8, 4))));
  EXPECT_EQ(kernel.register_limit, 64u);
  EXPECT_EQ(kernel.barriers, 6u);
  EXPECT_TRUE(kernel.required_threads);
  EXPECT_EQ(kernel.max_cluster_rank, 8u);
}

// STL.64 and LDL, as ptxas 13.0 writes their opcodes and widths.
std::string Instruction(uint16_t opcode, uint64_t width) {
  return Number(opcode, 8) + Number(width << 9, 8);
}

build::Cubin WithCode(std::string code, std::string info) {
  build::Cubin cubin = WithInfo(std::move(info));
  cubin.code = false;
  cubin.sections.push_back(
      {".text.probe", SHT_PROGBITS, std::move(code), SHF_ALLOC | SHF_EXECINSTR});
  return cubin;
}

std::string Annotations(std::initializer_list<uint32_t> offsets) {
  std::string payload;
  for (const uint32_t offset : offsets) payload += Number(1, 4) + Number(offset, 4);
  return Item(0x55, payload);
}

const std::string kCode =
    Instruction(0x387, 5) + Instruction(0x983, 4) + Instruction(0x983, 6) + Instruction(0x947, 0);

TEST(KernelResources, SpillsAreTheAnnotatedAccesses) {
  const auto spills = Probe(WithCode(kCode, Annotations({0, 16}))).spills;
  ASSERT_TRUE(spills);
  EXPECT_EQ(spills->stores, 8u);
  EXPECT_EQ(spills->loads, 4u) << "the load of 16 bytes is an array's";
  EXPECT_EQ(spills->basis, SpillBasis::kExact);
}

TEST(KernelResources, AnAnnotationThatLeadsElsewhereTellsNothing) {
  for (const uint32_t offset : {48u, 8u, 64u, 1u << 30}) {
    EXPECT_FALSE(Probe(WithCode(kCode, Annotations({0, offset}))).spills) << offset;
  }
}

TEST(KernelResources, WithoutAnnotationsTheToolkitDecides) {
  EXPECT_EQ(Probe(WithCode(kCode, "")).spills->basis, SpillBasis::kExact);
  EXPECT_EQ(Probe(WithCode(kCode, "")).spills->loads, 0u);
  build::Cubin old = WithCode(kCode, "");
  old.abi = 7;
  old.toolkit = {12, 2};
  const auto spills = Probe(old).spills;
  ASSERT_TRUE(spills);
  EXPECT_EQ(spills->basis, SpillBasis::kAtMost);
  EXPECT_EQ(spills->loads, 20u);
  old = WithCode(Instruction(0x947, 0), "");
  old.abi = 7;
  old.toolkit = {12, 2};
  EXPECT_EQ(Probe(old).spills->basis, SpillBasis::kExact) << "no access at all is no spill";
}

TEST(KernelResources, DamagedAttributesLeaveNoSpillsAndNoBarriers) {
  const auto kernel = Probe(WithCode(kCode, Half(0x4C, 2) + Number(0x0909, 2)));
  EXPECT_TRUE(kernel.damaged);
  EXPECT_FALSE(kernel.spills);
  EXPECT_FALSE(kernel.barriers);
}

TEST(KernelResources, ConstantsOfTheKernelAndOfAll) {
  build::Cubin cubin;
  cubin.sections = {{".nv.constant0.probe", SHT_PROGBITS, std::string(560, 'c')},
                    {".nv.constant3", SHT_PROGBITS, std::string(256, 'c')},
                    {".nv.constant0.other", SHT_PROGBITS, std::string(8, 'c')},
                    {".nv.constant", SHT_PROGBITS, "c"},
                    {".nv.constantX", SHT_PROGBITS, "c"}};
  const auto kernel = Probe(cubin);
  ASSERT_EQ(kernel.constants.size(), 2u);
  EXPECT_EQ(kernel.constants[0].bytes, 560u);
  EXPECT_EQ(kernel.constants[1].bank, 3u);
  EXPECT_TRUE(kernel.is_entry) << "without a symbol: parameters tell a kernel";
}

TEST(KernelResources, MercuryTwinsAreNoKernels) {
  build::Cubin cubin;
  cubin.sections = {{".nv.capmerc.text.probe", 0x70000016, "code"},
                    {".nv.merc.nv.info.probe", 0x70000083, MaxThreads(1, 1, 1)}};
  EXPECT_FALSE(Probe(cubin).max_threads);
}

TEST(KernelResources, CutShortAtEveryByteNothingIsReadPastTheEnd) {
  const std::string whole = build::CubinBytes(WithInfo(MaxThreads(1, 2, 3)));
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string part = whole.substr(0, size);
    EXPECT_FALSE(ReadKernelResources(ByteView(part))) << size;
  }
}

}  // namespace
}  // namespace cuproof
