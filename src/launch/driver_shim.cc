#include "launch/driver_shim.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "elfwrite/shared_object.h"
#include "trace/record.h"

namespace cuproof::launch {
namespace {

using elfwrite::Part;
using trace::ShimTable;

constexpr size_t kEntryBytes = 16;  // of a trampoline, and of a stub
constexpr size_t kTableBytes = sizeof(ShimTable);
constexpr uint64_t kResolveSlot = kTableBytes;  // where the loader puts cuproof_resolve
constexpr uint64_t kNames = (kTableBytes + 8 + 63) / 64 * 64;

template <size_t N>
std::string_view Code(const std::array<uint8_t, N>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), N};
}

// What a name stands for. The jump goes through memory, so binding costs nothing after the first
// call.
constexpr std::array<uint8_t, kEntryBytes> kTrampoline = {
    0xF3, 0x0F, 0x1E, 0xFA,           // endbr64
    0xFF, 0x25, 0,    0,    0,    0,  // jmp *slot(%rip)
    0xCC, 0xCC, 0xCC, 0xCC, 0xCC, 0xCC};
constexpr uint64_t kTrampolineSlot = 6;
constexpr uint64_t kTrampolineSize = 10;

// What a slot holds until it is resolved.
constexpr std::array<uint8_t, kEntryBytes> kStub = {0xF3, 0x0F, 0x1E, 0xFA,     // endbr64
                                                    0x68, 0,    0,    0,    0,  // push $index
                                                    0xE9, 0,    0,    0,    0,  // jmp resolve
                                                    0xCC, 0xCC};
constexpr uint64_t kStubIndex = 5;
constexpr uint64_t kStubTarget = 10;

// Calls cuproof_resolve(table, index) with every register saved that an argument can lie in (the
// psABI of x86-64: six integers, al, the static chain, eight vectors; no driver function takes more
// than 16 bytes of a vector), then goes on to what it returned. The frame pointer lets a debugger
// look past it, and the stack is aligned by hand, as the loader's own resolver does, for callers
// that did not.
constexpr std::array<uint8_t, 149> kResolve = {
    0x55,                                   // push %rbp
    0x48, 0x89, 0xE5,                       // mov %rsp,%rbp
    0x48, 0x83, 0xE4, 0xF0,                 // and $-16,%rsp
    0x50, 0x57, 0x56, 0x52, 0x51,           // push %rax, %rdi, %rsi, %rdx, %rcx
    0x41, 0x50, 0x41, 0x51, 0x41, 0x52,     // push %r8, %r9, %r10
    0x48, 0x81, 0xEC, 0x80, 0,    0,    0,  // sub $0x80,%rsp
    0x0F, 0x29, 0x04, 0x24,                 // movaps %xmm0,(%rsp)
    0x0F, 0x29, 0x4C, 0x24, 0x10,           // movaps %xmm1,0x10(%rsp)
    0x0F, 0x29, 0x54, 0x24, 0x20,           // movaps %xmm2,0x20(%rsp)
    0x0F, 0x29, 0x5C, 0x24, 0x30,           // movaps %xmm3,0x30(%rsp)
    0x0F, 0x29, 0x64, 0x24, 0x40,           // movaps %xmm4,0x40(%rsp)
    0x0F, 0x29, 0x6C, 0x24, 0x50,           // movaps %xmm5,0x50(%rsp)
    0x0F, 0x29, 0x74, 0x24, 0x60,           // movaps %xmm6,0x60(%rsp)
    0x0F, 0x29, 0x7C, 0x24, 0x70,           // movaps %xmm7,0x70(%rsp)
    0x48, 0x8D, 0x3D, 0,    0,    0,    0,  // lea table(%rip),%rdi
    0x8B, 0x75, 0x08,                       // mov 8(%rbp),%esi
    0xFF, 0x15, 0,    0,    0,    0,        // call *resolve_slot(%rip)
    0x49, 0x89, 0xC3,                       // mov %rax,%r11
    0x0F, 0x28, 0x04, 0x24,                 // movaps (%rsp),%xmm0
    0x0F, 0x28, 0x4C, 0x24, 0x10,           // movaps 0x10(%rsp),%xmm1
    0x0F, 0x28, 0x54, 0x24, 0x20,           // movaps 0x20(%rsp),%xmm2
    0x0F, 0x28, 0x5C, 0x24, 0x30,           // movaps 0x30(%rsp),%xmm3
    0x0F, 0x28, 0x64, 0x24, 0x40,           // movaps 0x40(%rsp),%xmm4
    0x0F, 0x28, 0x6C, 0x24, 0x50,           // movaps 0x50(%rsp),%xmm5
    0x0F, 0x28, 0x74, 0x24, 0x60,           // movaps 0x60(%rsp),%xmm6
    0x0F, 0x28, 0x7C, 0x24, 0x70,           // movaps 0x70(%rsp),%xmm7
    0x48, 0x81, 0xC4, 0x80, 0,    0,    0,  // add $0x80,%rsp
    0x41, 0x5A, 0x41, 0x59, 0x41, 0x58,     // pop %r10, %r9, %r8
    0x59, 0x5A, 0x5E, 0x5F, 0x58,           // pop %rcx, %rdx, %rsi, %rdi, %rax
    0xC9,                                   // leave
    0x48, 0x83, 0xC4, 0x08,                 // add $8,%rsp: the index
    0x41, 0xFF, 0xE3};                      // jmp *%r11
constexpr uint64_t kResolveTable = 68;
constexpr uint64_t kResolveCall = 77;

bool MadeByTheLinker(std::string_view name) {
  return name == "_init" || name == "_fini" || name == "_edata" || name == "_end" ||
         name == "__bss_start";
}

Error CannotStandIn(std::string_view name, std::string_view why) {
  return {ErrorCode::kUnsupported,
          fmt::format("the driver exports {}, {}; expected functions alone", name, why), "",
          std::nullopt};
}

void PutPlain(std::string& data, size_t at, const void* value, size_t size) {
  std::memcpy(data.data() + at, value, size);
}

/// Text, data and names of the shim of `exports`.
void AddEntries(const std::vector<DriverExport>& exports, elfwrite::SharedObject& shim) {
  const uint64_t count = exports.size();
  const uint64_t slots = (kNames + count * 8 + 63) / 64 * 64;
  const uint64_t stubs = count * kEntryBytes;
  const uint64_t resolve = 2 * count * kEntryBytes;
  std::map<std::string, uint16_t> versions;
  shim.data.resize(slots + count * 8);
  for (uint64_t i = 0; i < count; ++i) {
    const DriverExport& exported = exports[i];
    elfwrite::Export name;
    name.name = exported.name;
    name.at = {Part::kText, i * kEntryBytes};
    name.size = kTrampolineSize;
    name.binding = exported.weak ? STB_WEAK : STB_GLOBAL;
    if (!exported.version.empty()) {
      const auto next = static_cast<uint16_t>(shim.versions.size() + 1);
      const auto [at, added] = versions.try_emplace(exported.version, next);
      if (added) shim.versions.push_back(exported.version);
      name.version = at->second;
    }
    shim.exports.push_back(std::move(name));
    shim.text += Code(kTrampoline);
    shim.references.push_back({i * kEntryBytes + kTrampolineSlot, {Part::kData, slots + i * 8}});
    shim.pointers.push_back({kNames + i * 8, {Part::kConstants, shim.constants.size()}});
    shim.pointers.push_back({slots + i * 8, {Part::kText, stubs + i * kEntryBytes}});
    shim.constants.append(exported.name).push_back('\0');
  }
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = shim.text.size();
    shim.text += Code(kStub);
    const auto index = static_cast<uint32_t>(i);
    PutPlain(shim.text, at + kStubIndex, &index, sizeof(index));
    shim.references.push_back({at + kStubTarget, {Part::kText, resolve}});
  }
  shim.text += Code(kResolve);
  shim.references.push_back({resolve + kResolveTable, {Part::kData, 0}});
  shim.references.push_back({resolve + kResolveCall, {Part::kData, kResolveSlot}});
  shim.imports.push_back({"cuproof_resolve", kResolveSlot});
  shim.pointers.push_back({offsetof(ShimTable, names), {Part::kData, kNames}});
  shim.pointers.push_back({offsetof(ShimTable, slots), {Part::kData, slots}});
}

}  // namespace

Result<std::vector<DriverExport>> ReadDriverExports(const DynamicObject& driver) {
  if (driver.exports_unknown()) {
    return Error{ErrorCode::kBadSize, "its hash table is damaged, so its names cannot be told", "",
                 std::nullopt};
  }
  std::vector<DriverExport> exports;
  for (uint32_t i = 1; i < driver.symbol_count(); ++i) {
    const Symbol symbol = driver.SymbolAt(i);
    // The nodes of versions are absolute symbols with some linkers.
    if (!symbol.exported() || symbol.absolute || MadeByTheLinker(symbol.name)) continue;
    // Data for debuggers, which read it in the driver's own file: r580 has 25 such objects
    // (cudbgReportedDriverApiErrorCode, …). A jump cannot stand in for data.
    if (symbol.type == SymbolType::kObject || symbol.type == SymbolType::kCommon ||
        symbol.type == SymbolType::kTls) {
      continue;
    }
    if (symbol.type != SymbolType::kFunction && symbol.type != SymbolType::kIndirectFunction) {
      return CannotStandIn(symbol.name, "which is not said to be a function");
    }
    DriverExport exported{std::string(symbol.name), "", symbol.binding == SymbolBinding::kWeak};
    if (const VersionDefinition* version = driver.DefinitionAt(symbol.version)) {
      exported.version = version->name;
    }
    exports.push_back(std::move(exported));
  }
  std::sort(exports.begin(), exports.end(),
            [](const DriverExport& a, const DriverExport& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(
      exports.begin(), exports.end(),
      [](const DriverExport& a, const DriverExport& b) { return a.name == b.name; });
  if (twice != exports.end()) return CannotStandIn(twice->name, "at more than one version");
  return exports;
}

Result<std::string> WriteDriverShim(const std::vector<DriverExport>& exports,
                                    const ShimSettings& settings) {
  elfwrite::SharedObject shim;
  shim.soname = "libcuda.so.1";
  shim.needed = {settings.inject_library};
  AddEntries(exports, shim);
  ShimTable table = {};
  table.magic = trace::kShimMagic;
  table.count = static_cast<uint32_t>(exports.size());
  table.options = settings.options;
  table.records = settings.records;
  table.max_rings = settings.max_rings;
  table.event_bytes = settings.event_bytes;
  table.image_bytes = settings.image_bytes;
  PutPlain(shim.data, 0, &table, sizeof(table));
  const auto add_text = [&](size_t at, const std::string& text) {
    shim.pointers.push_back({at, {Part::kConstants, shim.constants.size()}});
    shim.constants.append(text).push_back('\0');
  };
  add_text(offsetof(ShimTable, driver), settings.driver);
  add_text(offsetof(ShimTable, folder), settings.folder);
  return elfwrite::WriteSharedObject(shim);
}

}  // namespace cuproof::launch
