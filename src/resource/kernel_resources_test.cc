#include "resource/kernel_resources.h"

#include <elf.h>
#include <gtest/gtest.h>

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

TEST(KernelResources, AreThoseOfTheSymbolThatTheAttributeNames) {
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

TEST(KernelResources, CutShortAtEveryByteNothingIsReadPastTheEnd) {
  const std::string whole = build::CubinBytes(WithInfo(MaxThreads(1, 2, 3)));
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string part = whole.substr(0, size);
    EXPECT_FALSE(ReadKernelResources(ByteView(part))) << size;
  }
}

}  // namespace
}  // namespace cuproof
