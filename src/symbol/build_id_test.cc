#include "symbol/build_id.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace cuproof {
namespace {

template <typename T>
void Append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

std::string Note(uint32_t type, std::string name, const std::string& text) {
  std::string bytes;
  Append(bytes, Elf64_Nhdr{static_cast<uint32_t>(name.size() + 1),
                           static_cast<uint32_t>(text.size()), type});
  name.resize((name.size() + 4) / 4 * 4, '\0');
  bytes += name + text;
  bytes.resize((bytes.size() + 3) / 4 * 4, '\0');
  return bytes;
}

std::string File(const std::string& notes) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_phnum = 1;
  Elf64_Phdr segment = {};
  segment.p_type = PT_NOTE;
  segment.p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
  segment.p_filesz = notes.size();
  std::string bytes;
  Append(bytes, header);
  Append(bytes, segment);
  return bytes + notes;
}

std::string IdOf(const std::string& bytes) { return ReadBuildId(ByteView(bytes)); }

TEST(BuildId, IsFoundAmongOtherNotes) {
  const std::string id("\x01\xAB\xFF", 3);
  EXPECT_EQ(IdOf(File(Note(1, "Linux", "12345") + Note(NT_GNU_BUILD_ID, "GNU", id))), "01abff");
}

TEST(BuildId, OtherNotesAreNone) {
  EXPECT_EQ(IdOf(File(Note(NT_GNU_BUILD_ID, "Go", "abcd"))), "");
  EXPECT_EQ(IdOf(File(Note(NT_GNU_ABI_TAG, "GNU", "abcd"))), "");
  EXPECT_EQ(IdOf(File("")), "");
  EXPECT_EQ(IdOf("no ELF file"), "");
}

TEST(BuildId, CutShortAtEveryLengthItIsNone) {
  const std::string whole = File(Note(NT_GNU_BUILD_ID, "GNU", "abcd"));
  ASSERT_EQ(IdOf(whole), "61626364");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(IdOf(whole.substr(0, size)), "") << size;
  }
}

TEST(BuildId, ASizeThatCannotBeTrueIsNone) {
  EXPECT_EQ(IdOf(File(Note(NT_GNU_BUILD_ID, "GNU", std::string(65, 'x')))), "");
  std::string lies = Note(NT_GNU_BUILD_ID, "GNU", "abcd");
  const uint32_t huge = UINT32_MAX;
  std::memcpy(lies.data(), &huge, sizeof(huge));
  EXPECT_EQ(IdOf(File(lies)), "");
}

}  // namespace
}  // namespace cuproof
