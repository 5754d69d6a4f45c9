#pragma once
#include <elf.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/expand.h"
#include "image/fatbin_format.h"
#include "image/image.h"

// Hand-made GPU images and host files for tests: every byte is written here, so that a test can say
// what a real compiler never would. Layouts: docs/formats.md.
namespace cuproof::build {

/// `value` in `bytes` little-endian bytes.
std::string Number(uint64_t value, size_t bytes);
/// `text` with NULs behind it up to a multiple of `step`.
std::string Padded(std::string text, size_t step);
/// `bytes` with `patch` written over them at `offset`.
std::string Patched(std::string bytes, size_t offset, std::string_view patch);

std::string Zstd(std::string_view raw);
/// A frame that does not say how many bytes it expands to.
std::string ZstdWithoutSize(std::string_view raw);
std::string Lz4Block(std::string_view raw);

/// Text that compressors cannot shrink much.
std::string Noise(size_t size, uint32_t seed = 1);

// Fatbins.

/// One entry of a container. The optional fields are lies: what they hold is written in place of
/// the true value.
struct Entry {
  uint16_t kind = fatbin::kKindCubin;
  Arch arch = {};
  Version version = {};      // cubin {1, 8}, PTX its ISA
  std::string payload = {};  // before compression
  Compression compression = Compression::kNone;
  uint64_t flags = 0x11;        // 64-bit, Linux; suffix and compression bits are added
  std::string options = {};     // empty: no record
  std::string identifier = {};  // empty: none
  uint16_t entry_version = 0x0101;
  std::optional<uint32_t> header_size = {};
  std::optional<uint64_t> payload_size = {};
  std::optional<uint32_t> stored_size = {};
  std::optional<uint64_t> raw_size = {};
  std::optional<uint32_t> options_at = {};
  std::optional<uint32_t> identifier_size = {};
};

std::string EntryBytes(const Entry& entry);

struct ContainerLies {
  uint16_t version = 1;
  uint16_t header_size = 16;  // what stands behind 16 is filled with zeros
  std::optional<uint64_t> body_size = {};
};

std::string Fatbin(const std::vector<Entry>& entries, const ContainerLies& lies = {});

/// An entry with a cubin of that architecture, as a toolkit writes it.
Entry Sass(Arch arch, Version toolkit = {13, 0});
/// An entry with the PTX text of a target.
Entry Ptx(Arch arch, Version isa);
/// An entry that says it holds LTO-IR, plain or masked.
Entry LtoIr(Arch arch, bool masked = false);
/// The same entry, compressed.
Entry Compressed(Entry entry, Compression compression);

// Images.

struct Section {
  std::string name;
  uint32_t type = SHT_PROGBITS;
  std::string content = {};
  uint64_t flags = 0;
  std::optional<uint64_t> size = {};    // in place of that of the content
  std::optional<uint64_t> offset = {};  // in place of where the content is
};

struct Cubin {
  Arch arch = {90, 0};  // suffix: what the command line in the note says
  int abi = 8;
  Version toolkit = {13, 0};
  bool notes = true;                      // ABI 8 only: .note.nv.cuinfo and .note.nv.tkinfo
  bool cuinfo = true;                     // the first of the two
  bool flag_a = false;                    // in e_flags, as CUDA 12 sets it for `a`
  std::optional<uint16_t> compat_a = {};  // .nv.compat with attribute 9 of that value
  uint16_t type = ET_EXEC;
  bool code = true;                    // .text.probe
  std::vector<Section> sections = {};  // further ones
};

std::string CubinBytes(const Cubin& cubin);

/// "-arch sm_90 -m 64" and the release, as ptxas writes them.
std::string TkInfoNote(Version toolkit, std::string_view command_line);
std::string CuInfoNote(uint32_t sm, Version toolkit);
/// `.nv.compat` as CUDA 13 writes it, with attribute 9 of that value.
std::string CompatSection(uint16_t accelerator);

/// A kernel called probe. `target` is "sm_90a".
std::string PtxText(Version isa, std::string_view target, uint32_t address_size = 64);

// Host files.

struct HostElf {
  uint16_t machine = EM_X86_64;
  uint16_t type = ET_DYN;
  std::vector<Section> sections = {};
  std::vector<std::string> needed = {};
  std::vector<std::string> dynamic_names = {};  // further text in .dynstr
  std::string soname = {};                      // empty: none
  bool section_table = true;
  bool extended_numbers = false;  // count and name index in the first section header
};

std::string HostElfBytes(const HostElf& elf);

/// A shared object with one container in .nv_fatbin that needs the runtime of a CUDA major; 0:
/// none.
std::string SharedObject(const std::string& fatbins, int runtime_major = 13);

struct PeSection {
  std::string name;
  std::string content;
};
std::string PeBytes(const std::vector<PeSection>& sections, uint16_t machine = 0x8664);

enum class ArNames { kGnu, kBsd, kMicrosoft };
struct ArMember {
  std::string name;
  std::string content;
};
std::string Archive(const std::vector<ArMember>& members, ArNames names = ArNames::kGnu);

}  // namespace cuproof::build
