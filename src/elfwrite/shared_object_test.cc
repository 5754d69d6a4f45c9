#include "elfwrite/shared_object.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>

#include "container/test_folder.h"
#include "symbol/dynamic_object.h"
#include "symbol/lookup.h"

namespace cuproof::elfwrite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr size_t kCodeBytes = 16;

/// Adds a function that returns `value`.
void AddFunction(SharedObject& object, const std::string& name, uint32_t value) {
  Export exported;
  exported.name = name;
  exported.at = {Part::kText, object.text.size()};
  exported.size = 6;
  object.exports.push_back(exported);
  std::string code = "\xB8";  // mov $value,%eax
  code.append(reinterpret_cast<const char*>(&value), 4);
  code += '\xC3';  // ret
  code.resize(kCodeBytes, '\xCC');
  object.text += code;
}

// Lengths from 3 to 70, none of them round.
std::string NumberedName(size_t number) {
  return "f" + std::to_string(number) + std::string(number * 7 % 67, 'x') + "_";
}

SharedObject ManyFunctions(size_t count) {
  SharedObject object;
  object.soname = "libmany.so.1";
  for (size_t i = 0; i < count; ++i) {
    AddFunction(object, NumberedName(i), static_cast<uint32_t>(i + 1));
  }
  return object;
}

class Loaded {
 public:
  explicit Loaded(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) error_ = dlerror();
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  ~Loaded() {
    if (handle_) dlclose(handle_);
  }
  const std::string& error() const { return error_; }
  /// What the function returns; -1: no such name.
  int Call(const std::string& name, const char* version = nullptr) const {
    void* at = version ? dlvsym(handle_, name.c_str(), version) : dlsym(handle_, name.c_str());
    return at ? reinterpret_cast<int (*)()>(at)() : -1;
  }
  void* At(const char* name) const { return dlsym(handle_, name); }

 private:
  void* handle_;
  std::string error_;
};

std::string Printed(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> buffer;
  while (const size_t count = fread(buffer.data(), 1, buffer.size(), pipe.get())) {
    text.append(buffer.data(), count);
  }
  return text;
}

class SharedObjectFile : public testing::Test {
 protected:
  /// Its path, under a name of its own: the loader takes two files of one name for one.
  std::string Write(const SharedObject& object) {
    const auto bytes = WriteSharedObject(object);
    EXPECT_TRUE(bytes.ok()) << (bytes ? "" : bytes.error().Text());
    return bytes ? folder_.Write(std::to_string(++files_) + ".so", *bytes) : "";
  }
  TestFolder folder_;
  int files_ = 0;
};

TEST_F(SharedObjectFile, OurReaderReadsBackWhatWasWritten) {
  SharedObject object = ManyFunctions(3);
  object.needed = {"libc.so.6", "/opt/a folder/libother.so"};
  object.data.resize(8);
  object.imports = {{"malloc", 0}};
  const auto bytes = WriteSharedObject(object);
  ASSERT_TRUE(bytes.ok());
  const auto read = DynamicObject::Read(ByteView(*bytes));
  ASSERT_TRUE(read.ok());
  EXPECT_THAT(Phrases(read->damage), IsEmpty());
  EXPECT_EQ(read->soname, "libmany.so.1");
  EXPECT_THAT(read->needed, ElementsAre("libc.so.6", "/opt/a folder/libother.so"));
  EXPECT_FALSE(read->executable_stack);
  ASSERT_EQ(read->References().size(), 1u);
  EXPECT_EQ(read->NameAt(read->References()[0].symbol), "malloc");
  for (size_t i = 0; i < 3; ++i) {
    const auto found = LookupAnyVersion(*read, NumberedName(i));
    ASSERT_TRUE(found);
  }
  EXPECT_FALSE(LookupAnyVersion(*read, "f3"));
}

TEST_F(SharedObjectFile, TheLoaderFindsEachOfManyNames) {
  for (const size_t count : {size_t{1}, size_t{2}, size_t{682}, size_t{5000}}) {
    const Loaded loaded(Write(ManyFunctions(count)));
    ASSERT_EQ(loaded.error(), "");
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(loaded.Call(NumberedName(i)), static_cast<int>(i + 1)) << NumberedName(i);
    }
    EXPECT_EQ(loaded.Call(NumberedName(count)), -1);
  }
}

TEST_F(SharedObjectFile, ANameOfEightThousandLetters) {
  SharedObject object;
  const std::string name(8191, 'n');
  AddFunction(object, name, 7);
  const Loaded loaded(Write(object));
  ASSERT_EQ(loaded.error(), "");
  EXPECT_EQ(loaded.Call(name), 7);
  EXPECT_EQ(loaded.Call(name.substr(1)), -1);
}

TEST_F(SharedObjectFile, VersionsPickTheDefinition) {
  SharedObject object;
  object.soname = "libversions.so.1";
  object.versions = {"V1", "V2"};
  AddFunction(object, "f", 1);
  object.exports.back().version = 1;
  object.exports.back().hidden_version = true;
  AddFunction(object, "f", 2);
  object.exports.back().version = 2;
  AddFunction(object, "plain", 3);
  const std::string path = Write(object);
  const Loaded loaded(path);
  ASSERT_EQ(loaded.error(), "");
  EXPECT_EQ(loaded.Call("f"), 2);
  EXPECT_EQ(loaded.Call("f", "V1"), 1);
  EXPECT_EQ(loaded.Call("f", "V2"), 2);
  EXPECT_EQ(loaded.Call("f", "V3"), -1);
  EXPECT_EQ(loaded.Call("plain"), 3);
  const auto bytes = WriteSharedObject(object);
  const auto read = DynamicObject::Read(ByteView(*bytes));
  ASSERT_TRUE(read.ok());
  EXPECT_THAT(Phrases(read->damage), IsEmpty());
  ASSERT_EQ(read->definitions.size(), 3u);
  EXPECT_TRUE(read->definitions[0].base);
  EXPECT_EQ(read->definitions[2].name, "V2");
}

TEST_F(SharedObjectFile, PointersAndImportsAreFilledByTheLoader) {
  SharedObject object;
  object.needed = {"libc.so.6"};
  AddFunction(object, "f", 5);
  object.constants = std::string("ab\0cd\0", 6);
  object.data.resize(24);
  object.pointers = {{0, {Part::kConstants, 3}}, {8, {Part::kText, 0}}};
  object.imports = {{"getpid", 16}};
  Export data;
  data.name = "table";
  data.at = {Part::kData, 0};
  data.size = 24;
  data.type = STT_OBJECT;
  object.exports.push_back(data);
  const Loaded loaded(Write(object));
  ASSERT_EQ(loaded.error(), "");
  auto* const* table = static_cast<void**>(loaded.At("table"));
  ASSERT_NE(table, nullptr);
  EXPECT_STREQ(static_cast<const char*>(table[0]), "cd");
  EXPECT_EQ(table[1], loaded.At("f"));
  EXPECT_EQ(reinterpret_cast<pid_t (*)()>(table[2])(), getpid());
}

TEST_F(SharedObjectFile, TextReachesTheOtherParts) {
  SharedObject object;
  object.data = std::string(8, '\0') + std::string("\x2A\0\0\0", 4);
  object.text = std::string("\x8B\x05\0\0\0\0\xC3", 7);  // mov number(%rip),%eax; ret
  object.references = {{2, {Part::kData, 8}}};
  object.exports = {{"f", {Part::kText, 0}, 7}};
  const Loaded loaded(Write(object));
  ASSERT_EQ(loaded.error(), "");
  EXPECT_EQ(loaded.Call("f"), 42);
}

TEST_F(SharedObjectFile, ReadelfHasNothingToSay) {
  SharedObject object = ManyFunctions(100);
  object.versions = {"V1"};
  object.exports[0].version = 1;
  object.needed = {"libc.so.6"};
  object.data.resize(16);
  object.imports = {{"malloc", 0}};
  object.pointers = {{8, {Part::kText, 0}}};
  for (const SharedObject& each : {object, SharedObject{}, ManyFunctions(1)}) {
    const std::string path = Write(each);
    const std::string text = Printed("readelf -aW '" + path + "' 2>&1");
    EXPECT_THAT(text, HasSubstr("Dynamic section"));
    EXPECT_THAT(text, Not(HasSubstr("readelf:")));
    EXPECT_THAT(text, Not(HasSubstr("arning")));
    EXPECT_THAT(text, Not(HasSubstr("rror")));
  }
}

TEST_F(SharedObjectFile, NothingIsWritableAndExecutable) {
  SharedObject object = ManyFunctions(10);
  object.data = "data";
  const auto bytes = WriteSharedObject(object);
  ASSERT_TRUE(bytes.ok());
  const ByteView view(*bytes);
  const auto header = view.Load<Elf64_Ehdr>(0);
  uint64_t end = 0;
  int executable = 0;
  for (uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = view.Load<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
    EXPECT_NE(segment->p_flags & (PF_W | PF_X), static_cast<uint32_t>(PF_W | PF_X));
    if (segment->p_type != PT_LOAD) continue;
    executable += (segment->p_flags & PF_X) != 0;
    EXPECT_EQ(segment->p_vaddr % 4096, 0u);
    EXPECT_GE(segment->p_vaddr, end);  // pages of its own
    end = (segment->p_vaddr + segment->p_memsz + 4095) / 4096 * 4096;
  }
  EXPECT_EQ(executable, 1);
}

TEST(SharedObject, WhatCannotBeIsRefused) {
  const auto refusal = [](const auto& change) {
    SharedObject object = ManyFunctions(2);
    object.data.resize(8);
    change(object);
    const auto bytes = WriteSharedObject(object);
    return bytes ? std::string("written") : bytes.error().phrase;
  };
  EXPECT_EQ(refusal([](SharedObject&) {}), "written");
  EXPECT_THAT(refusal([](SharedObject& o) { o.exports[1].name = o.exports[0].name; }),
              HasSubstr("exported twice"));
  EXPECT_THAT(refusal([](SharedObject& o) { o.exports[1].name = ""; }), HasSubstr("empty"));
  EXPECT_THAT(refusal([](SharedObject& o) { o.exports[1].name = std::string("a\0b", 3); }),
              HasSubstr("NUL"));
  EXPECT_THAT(refusal([](SharedObject& o) { o.exports[1].version = 1; }), HasSubstr("node"));
  EXPECT_THAT(refusal([](SharedObject& o) { o.exports[1].at.offset = o.text.size() - 5; }),
              HasSubstr("outside"));
  EXPECT_THAT(refusal([](SharedObject& o) { o.exports[1].at.offset = UINT64_MAX; }),
              HasSubstr("outside"));
  EXPECT_THAT(refusal([](SharedObject& o) { o.imports = {{"malloc", 1}}; }), HasSubstr("outside"));
  EXPECT_THAT(refusal([](SharedObject& o) {
                o.pointers = {{0, {Part::kConstants, 1}}};
              }),
              HasSubstr("outside"));
  EXPECT_THAT(refusal([](SharedObject& o) {
                o.references = {{29, {Part::kText, 0}}};
              }),
              HasSubstr("outside"));
  EXPECT_THAT(refusal([](SharedObject& o) { o.needed = {""}; }), HasSubstr("empty"));
}

}  // namespace
}  // namespace cuproof::elfwrite
