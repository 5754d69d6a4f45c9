// Any bytes as a shared object: its dynamic section, both hash tables, versions and names.
#include "fuzz/require.h"
#include "link/ld_cache.h"
#include "symbol/demangle.h"
#include "symbol/lookup.h"
#include "symbol/nearest.h"
#include "symbol/string_abi.h"

namespace cuproof {
namespace {

bool Within(ByteView bytes, std::string_view text) {
  const auto* at = reinterpret_cast<const uint8_t*>(text.data());
  return text.empty() || (at >= bytes.data() && at + text.size() <= bytes.data() + bytes.size());
}

void Read(ByteView bytes) {
  const auto object = DynamicObject::Read(bytes);
  if (!object) return;
  for (const std::string_view name : object->needed) REQUIRE(Within(bytes, name));
  REQUIRE(Within(bytes, object->soname));
  REQUIRE(object->symbol_count() <= bytes.size() / 24 + 1);
  ExportIndex index;
  index.Add(*object, 0);
  uint64_t asked = 0;
  ForEachExport(*object, [&](uint32_t, const Symbol& symbol) {
    REQUIRE(Within(bytes, symbol.name));
    StringAbiOf(symbol.name);
    if (++asked <= 64) {
      SplitCxxName(symbol.name);
      index.Nearest(symbol.name, 1);
    }
    const auto found = Lookup(*object, MakeWanted(symbol.name));
    REQUIRE(!found || (found->symbol.name == symbol.name && found->symbol.exported()) ||
            !found->symbol.defined);
    REQUIRE(!LookupAnyVersion(*object, symbol.name) || !object->exports_unknown());
  });
  uint32_t last = 0;
  for (const SymbolReference& reference : object->References()) {
    REQUIRE(reference.symbol > last);
    last = reference.symbol;
    const Symbol symbol = object->SymbolAt(reference.symbol);
    REQUIRE(!symbol.defined);
    Lookup(*object, MakeWanted(*object, symbol));
  }
}

}  // namespace
}  // namespace cuproof

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuproof;
  const ByteView bytes(data, size);
  Read(bytes);
  if (const auto cache = LdCache::Read(bytes)) cache->Find("libc.so.6", 62, {"x86-64-v3"});
  const std::string_view text = bytes.Text();
  StringAbiOf(text);
  SplitDemangled(text.substr(0, 4096));
  if (const auto name = SplitCxxName(text.substr(0, text.find('\0')))) ScopeOf(name->qualified);
  return 0;
}
