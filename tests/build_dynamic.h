#pragma once
#include <elf.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Hand-made shared objects with a dynamic section, for tests: what no linker would make can be made
// here. One segment holds all of the file, at address 0.
namespace cuproof::build {

enum class HashStyle : uint8_t { kGnu, kSysv, kBoth, kNone };

struct DynamicSymbol {
  std::string name;
  bool defined = true;
  uint16_t version = 1;  // index, as versym has it; | 0x8000 hides it
  uint8_t binding = STB_GLOBAL;
  uint8_t type = STT_FUNC;
  uint8_t visibility = STV_DEFAULT;
  std::optional<uint64_t> value = {};  // 0x1000 for a definition, else 0
  uint16_t section = 1;                // of a definition
  bool relocated = true;               // an undefined one is named by a relocation
  bool jump_slot = false;              // and that is one for a call
};

struct DefinedVersion {
  std::string name;
  uint16_t index;
  uint16_t flags = 0;
};

struct NeededVersion {
  std::string file;
  std::string name;
  uint16_t index;
  uint16_t flags = 0;
};

struct DynamicElf {
  uint16_t machine = EM_X86_64;
  uint16_t type = ET_DYN;
  std::string soname = {};
  std::vector<std::string> needed = {};
  std::optional<std::string> rpath = {};
  std::optional<std::string> runpath = {};
  uint64_t flags = 0;
  uint64_t flags_1 = 0;
  std::string interpreter = {};
  std::vector<DynamicSymbol> symbols = {};
  std::vector<DefinedVersion> definitions = {};
  std::vector<NeededVersion> needs = {};
  bool version_symbols = false;  // also without definitions and needs
  HashStyle hash = HashStyle::kGnu;
  uint32_t buckets = 0;  // 0: about one for each symbol
};

/// Where a table lies in the bytes, for tests that damage it.
struct DynamicPlaces {
  uint64_t dynamic = 0, symbols = 0, strings = 0, gnu_hash = 0, sysv_hash = 0, versions = 0;
  uint64_t definitions = 0, needs = 0, relocations = 0;
};

std::string DynamicElfBytes(const DynamicElf& elf, DynamicPlaces* places = nullptr);

}  // namespace cuproof::build
