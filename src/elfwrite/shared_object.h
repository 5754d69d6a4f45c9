#pragma once
#include <elf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bytes/result.h"

// Shared objects for x86-64 without a compiler or a linker: what `cuproof run` preloads is made on
// the user's machine, for exactly the driver that is there.
namespace cuproof::elfwrite {

/// The parts that the bytes of an object are given in. Each has pages of its own: constants are
/// readable, text can be run, data can be written, and nothing can be both of the last two.
enum class Part : uint8_t { kConstants, kText, kData };

/// A byte of a part.
struct Spot {
  Part part = Part::kText;
  uint64_t offset = 0;
};

/// A name that others bind to.
struct Export {
  std::string name;
  Spot at;
  uint64_t size = 0;
  uint8_t type = STT_FUNC;
  uint8_t binding = STB_GLOBAL;
  uint16_t version = 0;         // number in SharedObject::versions, counted from 1; 0: none
  bool hidden_version = false;  // name@VERSION, which only a reference to VERSION gets
};

/// A name of another object. The loader puts its address at `at`, 8 bytes in data.
struct Import {
  std::string name;
  uint64_t at = 0;
};

/// 8 bytes in data that shall hold the address of a spot: a relative relocation.
struct Pointer {
  uint64_t at = 0;
  Spot to;
};

/// 4 bytes in text that shall hold the distance from their end to a spot.
struct Reference {
  uint64_t at = 0;
  Spot to;
};

struct SharedObject {
  std::string soname;
  std::vector<std::string> needed;    // with a slash: opened by path
  std::vector<std::string> versions;  // nodes that it defines
  std::vector<Export> exports;        // each pair of name and version once
  std::vector<Import> imports;
  std::vector<Pointer> pointers;
  std::vector<Reference> references;
  std::string constants;
  std::string text;
  std::string data;
};

/// The file. An error where a spot lies outside its part, a version has no node, or a name is
/// empty, holds a NUL or is exported twice.
Result<std::string> WriteSharedObject(const SharedObject& object);

}  // namespace cuproof::elfwrite
