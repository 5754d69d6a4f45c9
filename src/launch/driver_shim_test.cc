#include "launch/driver_shim.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdarg>
#include <cstddef>

#include "build_dynamic.h"
#include "container/test_folder.h"
#include "elfwrite/shared_object.h"
#include "symbol/lookup.h"
#include "trace/record.h"

namespace cuproof::launch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<std::vector<DriverExport>> ExportsOf(const build::DynamicElf& elf) {
  const std::string bytes = build::DynamicElfBytes(elf);
  const auto object = DynamicObject::Read(ByteView(bytes));
  if (!object) return object.error();
  return ReadDriverExports(*object);
}

build::DynamicElf Driver(std::vector<build::DynamicSymbol> more) {
  build::DynamicElf elf;
  elf.soname = "libcuda.so.1";
  elf.symbols = {{"cuInit"}};
  for (build::DynamicSymbol& symbol : more) elf.symbols.push_back(std::move(symbol));
  return elf;
}

std::string Refusal(const build::DynamicElf& elf) {
  const auto exports = ExportsOf(elf);
  return exports ? "" : exports.error().phrase;
}

TEST(DriverExports, AreSortedAndOnlyWhatOthersCanBindTo) {
  build::DynamicSymbol weak{"cuB"};
  weak.binding = STB_WEAK;
  build::DynamicSymbol hidden{"cuHidden"};
  hidden.visibility = STV_HIDDEN;
  build::DynamicSymbol undefined{"malloc", false};
  const auto exports = ExportsOf(Driver({{"cuZ"}, weak, hidden, undefined, {"_init"}, {"_fini"}}));
  ASSERT_TRUE(exports.ok());
  std::vector<std::string> names;
  for (const DriverExport& exported : *exports) names.push_back(exported.name);
  EXPECT_THAT(names, ElementsAre("cuB", "cuInit", "cuZ"));
  EXPECT_TRUE((*exports)[0].weak);
  EXPECT_FALSE((*exports)[1].weak);
}

TEST(DriverExports, DataIsLeftOut) {
  build::DynamicSymbol data{"cudbgReportedDriverApiErrorCode"};
  data.type = STT_OBJECT;
  build::DynamicSymbol local{"cuPerThread"};
  local.type = STT_TLS;
  const auto exports = ExportsOf(Driver({data, local}));
  ASSERT_TRUE(exports.ok());
  for (const DriverExport& exported : *exports) EXPECT_EQ(exported.name, "cuInit");
}

TEST(DriverExports, WhatIsNotSaidToBeAFunctionIsRefused) {
  build::DynamicSymbol unknown{"cuTable"};
  unknown.type = STT_NOTYPE;
  EXPECT_THAT(Refusal(Driver({unknown})), HasSubstr("not said to be a function"));
}

TEST(DriverExports, TheMarksOfALinkerAreNoFunctions) {
  build::DynamicSymbol mark{"_end"};
  mark.type = STT_NOTYPE;
  build::DynamicSymbol node{"LIBCUDA_1"};
  node.type = STT_OBJECT;
  node.section = SHN_ABS;
  const auto exports = ExportsOf(Driver({mark, node}));
  ASSERT_TRUE(exports.ok());
  EXPECT_EQ(exports->size(), 1u);
}

TEST(DriverExports, OneNameAtTwoVersionsIsRefused) {
  build::DynamicElf elf = Driver({{"cuA", true, 2}, {"cuA", true, 0x8003}});
  elf.definitions = {{"libcuda.so.1", 1, VER_FLG_BASE}, {"V1", 2}, {"V2", 3}};
  elf.version_symbols = true;
  EXPECT_THAT(Refusal(elf), HasSubstr("cuA, at more than one version"));
}

ShimSettings Settings() {
  ShimSettings settings;
  settings.driver = "/usr/lib/libcuda.so.1";
  settings.folder = "/home/a run";
  settings.inject_library = "/home/lib/libcuproof_inject.so";
  settings.options = 5;
  settings.records = 1024;
  settings.max_rings = 3;
  settings.event_bytes = 77;
  settings.image_bytes = 88;
  return settings;
}

TEST(DriverShim, HasTheNamesOfTheDriverAndItsSoname) {
  const auto bytes = WriteDriverShim({{"cuA", "", true}, {"cuInit", "", false}}, Settings());
  ASSERT_TRUE(bytes.ok());
  const auto shim = DynamicObject::Read(ByteView(*bytes));
  ASSERT_TRUE(shim.ok());
  EXPECT_THAT(Phrases(shim->damage), IsEmpty());
  EXPECT_EQ(shim->soname, "libcuda.so.1");
  EXPECT_THAT(shim->needed, ElementsAre("/home/lib/libcuproof_inject.so"));
  const auto again = ReadDriverExports(*shim);
  ASSERT_TRUE(again.ok());
  ASSERT_EQ(again->size(), 2u);
  EXPECT_EQ((*again)[0].name, "cuA");
  EXPECT_TRUE((*again)[0].weak);
  EXPECT_EQ((*again)[1].name, "cuInit");
}

TEST(DriverShim, KeepsVersionNodes) {
  const auto bytes = WriteDriverShim({{"cuA", "LIBCUDA_1", false}, {"cuB", "", false}}, Settings());
  ASSERT_TRUE(bytes.ok());
  const auto shim = DynamicObject::Read(ByteView(*bytes));
  const auto exports = ReadDriverExports(*shim);
  ASSERT_TRUE(exports.ok());
  EXPECT_EQ((*exports)[0].version, "LIBCUDA_1");
  EXPECT_EQ((*exports)[1].version, "");
}

TEST(DriverShim, HoldsTheTableOfTheRecorder) {
  const auto bytes = WriteDriverShim({{"cuInit", "", false}}, Settings());
  ASSERT_TRUE(bytes.ok());
  const uint64_t magic = trace::kShimMagic;
  const size_t at = bytes->find(std::string(reinterpret_cast<const char*>(&magic), sizeof(magic)));
  ASSERT_NE(at, std::string::npos);
  const ByteView table = *ByteView(*bytes).Slice(at, sizeof(trace::ShimTable));
  using trace::ShimTable;
  EXPECT_EQ(table.Load<uint32_t>(offsetof(ShimTable, count)), 1u);
  EXPECT_EQ(table.Load<uint64_t>(offsetof(ShimTable, options)), 5u);
  EXPECT_EQ(table.Load<uint32_t>(offsetof(ShimTable, records)), 1024u);
  EXPECT_EQ(table.Load<uint32_t>(offsetof(ShimTable, max_rings)), 3u);
  EXPECT_EQ(table.Load<uint64_t>(offsetof(ShimTable, event_bytes)), 77u);
  EXPECT_EQ(table.Load<uint64_t>(offsetof(ShimTable, image_bytes)), 88u);
  EXPECT_NE(bytes->find(std::string("/home/a run\0", 12)), std::string::npos);
  EXPECT_NE(bytes->find(std::string("/usr/lib/libcuda.so.1\0", 22)), std::string::npos);
}

int Sum(int a, int b, int c, int d, int e, int f, double g, double h, double i, double j, double k,
        double l, double m, double n, int o, double p, int q) {
  return static_cast<int>(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i +
                          10 * j + 11 * k + 12 * l + 13 * m + 14 * n + 15 * o + 16 * p + 17 * q);
}

// The number of vector registers in use lies in al. All other argument registers are 0 when it is
// called.
double FirstDouble(int, int, int, int, int, int last, ...) {
  va_list list;
  va_start(list, last);
  const double first = va_arg(list, double);
  va_end(list);
  return first;
}

/// A cuproof_resolve that returns `target` and keeps no register that it need not keep.
std::string CarelessLibrary(void* target) {
  elfwrite::SharedObject library;
  library.soname = "libcareless.so";
  std::string& text = library.text;
  text = "\x48\xB8";  // mov $target,%rax
  text.append(reinterpret_cast<const char*>(&target), sizeof(target));
  for (const char* ones : {"\xC9", "\xD2", "\xF6", "\xFF"}) {  // or $-1 to rcx, rdx, rsi, rdi
    text += std::string("\x48\x83") + ones + "\xFF";
  }
  for (const char* ones : {"\xC8", "\xC9", "\xCA", "\xCB"}) {  // or $-1 to r8, r9, r10, r11
    text += std::string("\x49\x83") + ones + "\xFF";
  }
  for (const char* ones : {"\xC0", "\xC9", "\xD2", "\xDB", "\xE4", "\xED", "\xF6", "\xFF"}) {
    text += std::string("\x66\x0F\x76") + ones;  // pcmpeqd: all ones in xmm0 to xmm7
  }
  text += '\xC3';  // ret
  library.exports = {{"cuproof_resolve", {elfwrite::Part::kText, 0}, text.size()}};
  return *elfwrite::WriteSharedObject(library);
}

/// The address of cuInit in a shim that resolves to `target`.
void* StandIn(const TestFolder& folder, void* target) {
  ShimSettings settings = Settings();
  settings.inject_library = folder.Write("libcareless.so", CarelessLibrary(target));
  const auto bytes = WriteDriverShim({{"cuA", "", false}, {"cuInit", "", false}}, settings);
  void* shim = dlopen(folder.Write("shim.so", *bytes).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!shim) ADD_FAILURE() << dlerror();
  return shim ? dlsym(shim, "cuInit") : nullptr;
}

TEST(DriverShim, EveryArgumentOutlivesTheFirstCall) {
  const TestFolder folder;
  auto* sum = reinterpret_cast<decltype(&Sum)>(StandIn(folder, reinterpret_cast<void*>(&Sum)));
  ASSERT_NE(sum, nullptr);
  const int expected = Sum(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17);
  // The resolver of this test fills no slot, so each call is a first one.
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(sum(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17), expected);
  }
}

TEST(DriverShim, TheNumberOfVectorArgumentsOutlivesIt) {
  const TestFolder folder;
  auto* first = reinterpret_cast<decltype(&FirstDouble)>(
      StandIn(folder, reinterpret_cast<void*>(&FirstDouble)));
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first(0, 0, 0, 0, 0, 0, 2.5), 2.5);
}

}  // namespace
}  // namespace cuproof::launch
