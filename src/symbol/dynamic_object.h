#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/result.h"
#include "bytes/view.h"

namespace cuproof {

/// The first bytes of an ELF file: what a loader looks at before anything else.
struct ElfIdentity {
  bool is_64_bit = false;
  bool little_endian = false;
  uint16_t machine = 0;  // EM_X86_64, EM_AARCH64
  uint16_t type = 0;     // ET_DYN, ET_EXEC, ET_CORE
  auto operator<=>(const ElfIdentity&) const = default;
};

/// An error says what stands there instead: "file too short", no ELF.
Result<ElfIdentity> ReadElfIdentity(ByteView bytes);

/// "x86-64", "aarch64", "32-bit", "machine 21".
std::string ElfMachineName(const ElfIdentity& identity);

enum class SymbolType : uint8_t {
  kNone,
  kObject,
  kFunction,
  kCommon,
  kTls,
  kIndirectFunction,
  kOther
};
enum class SymbolBinding : uint8_t { kLocal, kGlobal, kWeak, kUnique, kOther };
enum class SymbolVisibility : uint8_t { kDefault, kInternal, kHidden, kProtected };

/// One entry of the dynamic symbol table. The name is a view into the file.
struct Symbol {
  std::string_view name;
  uint64_t value = 0;
  uint64_t size = 0;
  uint16_t version = 1;  // index without the hidden bit: 0 local, 1 without version, else a table's
  bool hidden_version = false;  // foo@V, which only a reference to V gets; not foo@@V
  bool defined = false;
  bool absolute = false;  // SHN_ABS: a value of 0 is a definition too
  SymbolType type = SymbolType::kNone;
  SymbolBinding binding = SymbolBinding::kGlobal;
  SymbolVisibility visibility = SymbolVisibility::kDefault;

  /// Another object can bind to it.
  bool exported() const {
    return defined && binding != SymbolBinding::kLocal && binding != SymbolBinding::kOther &&
           (visibility == SymbolVisibility::kDefault || visibility == SymbolVisibility::kProtected);
  }
};

/// A version that an object defines (GLIBCXX_3.4.30).
struct VersionDefinition {
  std::string_view name;
  uint32_t hash = 0;
  uint16_t index = 0;
  bool base = false;  // VER_FLG_BASE: names the file, no version
};

/// A version that an object wants from a library that it needs.
struct VersionNeed {
  std::string_view file;  // "libc.so.6"
  std::string_view name;  // "GLIBC_2.34"
  uint32_t hash = 0;
  uint16_t index = 0;
  bool weak = false;    // VER_FLG_WEAK: its absence is no error
  bool hidden = false;  // bit 15 of vna_other
};

/// A symbol that a relocation names: what the loader will look up.
struct SymbolReference {
  uint32_t symbol = 0;         // index
  bool function_only = false;  // only jump slots name it: looked up at its first call unless NOW
};

/// The dynamic part of an ELF64 file of any machine, as a loader sees it: by program headers, never
/// by section headers. Views point into the bytes, which must outlive it. What is damaged is told
/// in `damage`; what could be read is kept.
class DynamicObject {
 public:
  /// An error where there is no ELF64 little-endian file. A file without PT_DYNAMIC (static, .o) is
  /// an object with nothing in it.
  static Result<DynamicObject> Read(ByteView bytes);

  ElfIdentity identity;
  bool has_dynamic = false;
  std::string_view interpreter;  // PT_INTERP
  std::vector<std::string_view> needed;
  std::string_view soname;
  std::optional<std::string_view> rpath;  // with a RUNPATH beside it, it means nothing
  std::optional<std::string_view> runpath;
  bool symbolic = false;                         // DT_SYMBOLIC or DF_SYMBOLIC
  bool bind_now = false;                         // DT_BIND_NOW, DF_BIND_NOW or DF_1_NOW
  bool no_default_lib = false;                   // DF_1_NODEFLIB
  bool position_independent_executable = false;  // DF_1_PIE: cannot be loaded by dlopen
  bool constructors = false;      // of its own: the start files of GCC bring one entry
  bool no_open = false;           // DF_1_NOOPEN: the same
  bool executable_stack = false;  // PT_GNU_STACK with PF_X, which glibc 2.41 refuses in dlopen
  std::vector<VersionDefinition> definitions;
  std::vector<VersionNeed> needs;
  std::vector<Error> damage;

  /// The number of entries of the symbol table, the null entry included. Both hash tables leave
  /// room for doubt, so it counts up to the last symbol that a hash table or a relocation names.
  uint32_t symbol_count() const { return symbol_count_; }
  /// An entry; an empty one past the end.
  Symbol SymbolAt(uint32_t index) const;
  std::string_view NameAt(uint32_t index) const;
  /// Without a look at the rest of a name that goes on for megabytes.
  bool NameIs(uint32_t index, std::string_view name) const;

  /// The undefined, not local symbols that relocations name, by index, each once.
  std::vector<SymbolReference> References() const;
  /// The weak functions that it defines and that its own relocations name, by index: where another
  /// object exports the same name and comes first, that one is taken.
  std::vector<uint32_t> OwnWeakFunctions() const;

  /// The version that a reference by this symbol wants; nothing for one without version.
  const VersionNeed* NeedAt(uint16_t version) const;
  /// The version of a definition with this index; nothing for 0, 1 and the base.
  const VersionDefinition* DefinitionAt(uint16_t version) const;
  bool has_symbol_versions() const { return !versions_.empty(); }
  /// The hash of the name of a version index, 0 for none: what glibc compares first.
  uint32_t VersionHash(uint16_t version) const;

  /// True where the hash table is damaged or made to waste time: nothing can be said about what the
  /// object exports.
  bool exports_unknown() const { return exports_unknown_; }

  /// The text of a version index, from either table; empty for none.
  std::string_view VersionText(uint16_t version) const;

  // For lookup.cc.
  struct GnuHash {
    uint32_t bucket_count = 0;
    uint32_t first_symbol = 0;
    uint32_t bloom_words = 0;
    uint32_t bloom_shift = 0;
    ByteView bloom;
    ByteView buckets;
    ByteView chains;  // word i is that of symbol first_symbol + i
  };
  struct SysvHash {
    uint32_t bucket_count = 0;
    ByteView buckets;
    ByteView chains;
  };
  const std::optional<GnuHash>& gnu_hash() const { return gnu_hash_; }
  const std::optional<SysvHash>& sysv_hash() const { return sysv_hash_; }

 private:
  friend class DynamicReader;
  std::vector<uint8_t> RelocationMarks() const;
  ByteView bytes_;
  ByteView symbols_;
  ByteView strings_;
  ByteView versions_;
  ByteView relocations_;       // DT_RELA, without the relative ones at its start
  ByteView jump_relocations_;  // DT_JMPREL
  uint32_t symbol_count_ = 0;
  bool exports_unknown_ = false;
  std::vector<uint16_t> need_at_;        // version index -> needs index + 1
  std::vector<uint16_t> definition_at_;  // version index -> definitions index + 1
  std::optional<GnuHash> gnu_hash_;
  std::optional<SysvHash> sysv_hash_;
};

}  // namespace cuproof
