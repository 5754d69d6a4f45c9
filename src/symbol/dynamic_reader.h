#pragma once
#include <elf.h>

#include <vector>

#include "symbol/dynamic_object.h"

namespace cuproof {

/// Fills a DynamicObject from the bytes of its file.
class DynamicReader {
 public:
  DynamicReader(ByteView bytes, DynamicObject& object) : bytes_(bytes), object_(object) {}
  void Read();

 private:
  /// What the entries of PT_DYNAMIC say, before anything is looked at.
  struct Entries {
    uint64_t strings = 0, strings_size = 0, symbols = 0, version_symbols = 0;
    uint64_t gnu_hash = 0, sysv_hash = 0;
    uint64_t definitions = 0, needs = 0;
    uint64_t relocations = 0, relocations_size = 0, relative_count = 0;
    uint64_t jumps = 0, jumps_size = 0;
    std::optional<uint64_t> soname, rpath, runpath;
    std::vector<uint64_t> needed;
  };

  void Damage(ErrorCode code, std::string phrase);
  ByteView AtAddress(uint64_t address, uint64_t size = UINT64_MAX) const;
  std::string_view String(uint64_t at, uint64_t limit) const;
  bool ReadSegments();
  Entries ReadEntries();
  void TakeFlags(const Elf64_Dyn& entry);
  void ReadTables(const Entries& entries);
  void ReadGnuHash(uint64_t address);
  void ReadSysvHash(uint64_t address);
  void ReadNeeds(uint64_t address);
  void ReadDefinitions(uint64_t address);
  void CountSymbols();

  ByteView bytes_;
  DynamicObject& object_;
  std::vector<Elf64_Phdr> loads_;
  Elf64_Phdr dynamic_ = {};
};

}  // namespace cuproof
