#include "resource/source_lines.h"

#include <elf.h>

#include <optional>
#include <vector>

namespace cuproof {
namespace {

// A line program sets the address at its start, and that is where the relocation of a function
// points to. The first row behind it has the line that the function begins at.
constexpr uint8_t kCopy = 1;
constexpr uint8_t kAdvancePc = 2;
constexpr uint8_t kAdvanceLine = 3;
constexpr uint8_t kSetFile = 4;
constexpr int kMostSteps = 64;  // before the first row; ptxas writes two
// Each kernel keeps a copy. PATH_MAX of Linux.
constexpr size_t kLongestName = 4096;

class Cursor {
 public:
  Cursor(ByteView bytes, uint64_t at) : bytes_(bytes), at_(at) {}

  std::optional<uint8_t> Byte() {
    const auto byte = bytes_.Load<uint8_t>(at_);
    if (byte) ++at_;
    return byte;
  }
  std::optional<uint64_t> Unsigned() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = Byte();
      if (!byte) return std::nullopt;
      value |= uint64_t{*byte & 0x7Fu} << shift;
      if (!(*byte & 0x80)) return value;
    }
    return std::nullopt;
  }
  std::optional<int64_t> Signed() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = Byte();
      if (!byte) return std::nullopt;
      value |= uint64_t{*byte & 0x7Fu} << shift;
      if (*byte & 0x80) continue;
      if ((*byte & 0x40) && shift + 7 < 64) value |= ~uint64_t{0} << (shift + 7);
      return static_cast<int64_t>(value);
    }
    return std::nullopt;
  }
  std::string_view Text() {
    const std::string_view text = bytes_.CString(at_);
    at_ += text.size() + 1;
    return text;
  }

 private:
  ByteView bytes_;
  uint64_t at_;
};

struct File {
  std::string_view name;
  uint64_t folder = 0;  // from 1 on; 0: that of the compiler
};

/// One unit of .debug_line.
struct Unit {
  uint64_t start = 0;
  uint64_t end = 0;
  uint8_t opcode_base = 0;
  int8_t line_base = 0;
  uint8_t line_range = 0;
  std::vector<std::string_view> folders;
  std::vector<File> files;
};

void ReadNames(Cursor cursor, Unit& unit) {
  for (auto text = cursor.Text(); !text.empty(); text = cursor.Text()) unit.folders.push_back(text);
  for (auto text = cursor.Text(); !text.empty(); text = cursor.Text()) {
    const auto folder = cursor.Unsigned();
    if (!folder || !cursor.Unsigned() || !cursor.Unsigned()) return;
    unit.files.push_back({text, *folder});
  }
}

std::optional<Unit> UnitAt(ByteView section, uint64_t at) {
  const auto length = section.Load<uint32_t>(at);
  const auto version = section.Load<uint16_t>(at + 4);
  if (!length || !section.Holds(at + 4, *length) || (version != 2 && version != 3))
    return std::nullopt;
  const auto line_base = section.Load<int8_t>(at + 12);
  const auto line_range = section.Load<uint8_t>(at + 13);
  const auto opcode_base = section.Load<uint8_t>(at + 14);
  if (!opcode_base || *opcode_base == 0 || *line_range == 0) return std::nullopt;
  Unit unit{at, at + 4 + *length, *opcode_base, *line_base, *line_range, {}, {}};
  ReadNames(Cursor(section.Clamp(0, unit.end), at + 15 + (*opcode_base - 1u)), unit);
  return unit;
}

bool IsOctal(char c) { return c >= '0' && c <= '7'; }

// nvcc writes a byte that is not ASCII as a backslash and three octal digits, and ptxas keeps that.
std::string WithoutEscapes(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 3 < text.size() &&
                        (text[i + 1] == '2' || text[i + 1] == '3') && IsOctal(text[i + 2]) &&
                        IsOctal(text[i + 3]);
    if (!escape) {
      out += text[i];
      continue;
    }
    out += static_cast<char>((text[i + 1] - '0') << 6 | (text[i + 2] - '0') << 3 |
                             (text[i + 3] - '0'));
    i += 3;
  }
  return out;
}

// nvcc takes the backslash of its own escape for one between folder and file: "/src/\\303" and
// "251.cu" are one name.
bool EndsWithinALetter(const std::string& text) {
  size_t at = text.size();
  size_t behind = 0;
  for (; at > 0 && behind < 3 && (static_cast<uint8_t>(text[at - 1]) & 0xC0) == 0x80; --at)
    ++behind;
  if (at == 0) return false;
  const auto lead = static_cast<uint8_t>(text[at - 1]);
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  return behind + 1 < length;
}

std::string FileName(const Unit& unit, uint64_t number) {
  if (number == 0 || number > unit.files.size()) return {};
  const File& file = unit.files[number - 1];
  if (file.name.size() > kLongestName) return {};
  const bool in_folder =
      file.name[0] != '/' && file.folder != 0 && file.folder <= unit.folders.size();
  if (!in_folder || unit.folders[file.folder - 1].size() > kLongestName)
    return WithoutEscapes(file.name);
  const std::string folder = WithoutEscapes(unit.folders[file.folder - 1]);
  if (EndsWithinALetter(folder)) return folder + WithoutEscapes("\\" + std::string(file.name));
  return folder + "/" + WithoutEscapes(file.name);
}

std::optional<SourceLine> FirstRow(ByteView section, const Unit& unit, uint64_t at) {
  Cursor cursor(section.Clamp(0, unit.end), at);
  uint64_t file = 1;
  uint64_t line = 1;
  for (int step = 0; step < kMostSteps; ++step) {
    const auto opcode = cursor.Byte();
    if (!opcode) return std::nullopt;
    if (*opcode == kAdvanceLine) {
      const auto by = cursor.Signed();
      if (!by) return std::nullopt;
      line += static_cast<uint64_t>(*by);
    } else if (*opcode == kSetFile || *opcode == kAdvancePc) {
      const auto value = cursor.Unsigned();
      if (!value || *opcode == kAdvancePc) return std::nullopt;
      file = *value;
    } else if (*opcode == kCopy || *opcode >= unit.opcode_base) {
      if (*opcode != kCopy) {
        const int step_of_line = (*opcode - unit.opcode_base) % unit.line_range + unit.line_base;
        line += static_cast<uint64_t>(int64_t{step_of_line});
      }
      std::string name = FileName(unit, file);
      if (name.empty() || line == 0 || line > INT32_MAX) return std::nullopt;
      return SourceLine{std::move(name), static_cast<uint32_t>(line)};
    } else if (*opcode == 0) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

const CubinSection* Named(const CubinSections& cubin, std::string_view name) {
  for (const CubinSection& section : cubin.sections()) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

}  // namespace

std::unordered_map<uint32_t, SourceLine> ReadSourceLines(const CubinSections& cubin) {
  std::unordered_map<uint32_t, SourceLine> lines;
  const CubinSection* table = Named(cubin, ".debug_line");
  // ptxas writes RELA from sm_90 on, REL before: 13.0. The first two words are the same.
  const CubinSection* relocations = Named(cubin, ".rela.debug_line");
  const uint64_t step = relocations ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
  if (!relocations) relocations = Named(cubin, ".rel.debug_line");
  if (!table || !relocations) return lines;
  const ByteView section = table->content;
  std::optional<Unit> unit = UnitAt(section, 0);
  for (uint64_t at = 0; unit; at += step) {
    const auto relocation = relocations->content.Load<Elf64_Rel>(at);
    if (!relocation) break;
    while (unit && relocation->r_offset >= unit->end) unit = UnitAt(section, unit->end);
    if (!unit || relocation->r_offset < unit->start) continue;
    auto line = FirstRow(section, *unit, relocation->r_offset + 8);
    if (line) lines.emplace(static_cast<uint32_t>(ELF64_R_SYM(relocation->r_info)), *line);
  }
  return lines;
}

}  // namespace cuproof
