#include "symbol/lookup.h"

#include <functional>

namespace cuproof {

// The rules below are those of the ELF specification, of the symbol versioning documents of Sun and
// of U. Drepper, and of what glibc 2.36 was seen to do (tests/link/).

uint32_t GnuHashOf(std::string_view name) {
  uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<uint8_t>(c);
  return hash;
}

uint32_t SysvHashOf(std::string_view name) {
  uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4) + static_cast<uint8_t>(c);
    hash ^= (hash >> 24) & 0xF0;
    hash &= 0x0FFFFFFF;
  }
  return hash;
}

Wanted MakeWanted(std::string_view name, std::string_view version, std::string_view version_file) {
  Wanted wanted;
  wanted.name = name;
  wanted.version = version;
  wanted.version_file = version_file;
  wanted.gnu_hash = GnuHashOf(name);
  wanted.sysv_hash = SysvHashOf(name);
  wanted.version_hash = version.empty() ? 0 : SysvHashOf(version);
  return wanted;
}

Wanted MakeWanted(const DynamicObject& object, const Symbol& symbol) {
  Wanted wanted = MakeWanted(symbol.name);
  if (const VersionNeed* need = object.NeedAt(symbol.version)) {
    wanted.version = need->name;
    wanted.version_file = need->file;
    wanted.version_hidden = need->hidden;
    wanted.version_hash = need->hash;
  } else if (const VersionDefinition* own = object.DefinitionAt(symbol.version)) {
    wanted.version = own->name;
    wanted.version_hash = own->hash;
  }
  // The loader takes a version whose hash is 0 for none.
  if (wanted.version_hash == 0) wanted.version = {};
  return wanted;
}

namespace {

enum class Match : uint8_t { kNo, kYes, kIfAlone };

// A definition with a value, or that of a thread-local variable, whose value is an offset.
bool CanServe(const Symbol& symbol, bool jump_slot) {
  if (symbol.value == 0 && !symbol.absolute && symbol.type != SymbolType::kTls) return false;
  // An executable gives an undefined function the address of its own jump: good as an address, no
  // use to a call. Nor is an undefined thread-local variable any.
  if (!symbol.defined && (jump_slot || symbol.type == SymbolType::kTls)) return false;
  return symbol.type != SymbolType::kOther;
}

bool CanBind(const Symbol& symbol) {
  return symbol.binding != SymbolBinding::kLocal && symbol.binding != SymbolBinding::kOther &&
         symbol.visibility != SymbolVisibility::kHidden &&
         symbol.visibility != SymbolVisibility::kInternal;
}

Match MatchVersion(const DynamicObject& object, const Symbol& symbol, const Wanted& wanted) {
  if (!object.has_symbol_versions()) return Match::kYes;
  if (wanted.version.empty()) {
    // Local, global and the first version that was ever defined serve an old reference. A later
    // version does if it is the default one and there is no other.
    if (symbol.version < 3) return Match::kYes;
    return symbol.hidden_version ? Match::kNo : Match::kIfAlone;
  }
  const uint32_t hash = object.VersionHash(symbol.version);
  if (hash == wanted.version_hash && object.VersionText(symbol.version) == wanted.version) {
    return Match::kYes;
  }
  // A definition without version serves every reference, unless it is hidden.
  const bool base = hash == 0 && !wanted.version_hidden && !symbol.hidden_version;
  return base ? Match::kYes : Match::kNo;
}

/// Calls visit(index) for each symbol of the table that may have the name, until it returns true.
template <typename Visit>
void VisitGnu(const DynamicObject::GnuHash& hash, uint32_t value, const Visit& visit) {
  if (hash.bucket_count == 0) return;
  const uint64_t word = (value / 64) & (hash.bloom_words - 1);
  const uint64_t filter = hash.bloom.Load<uint64_t>(word * 8).value_or(0);
  const uint32_t second = hash.bloom_shift < 32 ? value >> hash.bloom_shift : 0;
  if (((filter >> (value % 64)) & (filter >> (second % 64)) & 1) == 0) return;
  const uint32_t start = hash.buckets.Load<uint32_t>(value % hash.bucket_count * 4).value_or(0);
  if (start < hash.first_symbol || start == 0) return;
  for (uint64_t i = start - hash.first_symbol;; ++i) {
    const auto entry = hash.chains.Load<uint32_t>(i * 4);
    if (!entry) return;
    if (((*entry ^ value) >> 1) == 0 && visit(static_cast<uint32_t>(hash.first_symbol + i))) return;
    if ((*entry & 1) != 0) return;
  }
}

template <typename Visit>
void VisitSysv(const DynamicObject::SysvHash& hash, uint32_t value, const Visit& visit) {
  if (hash.bucket_count == 0) return;
  uint32_t at = hash.buckets.Load<uint32_t>(value % hash.bucket_count * 4).value_or(0);
  while (at != 0) {
    if (visit(at)) return;
    at = hash.chains.Load<uint32_t>(uint64_t{at} * 4).value_or(0);
  }
}

template <typename Visit>
void VisitNamed(const DynamicObject& object, const Wanted& wanted, const Visit& visit) {
  if (object.exports_unknown()) return;
  const auto check = [&](uint32_t index) {
    return object.NameIs(index, wanted.name) && visit(index, object.SymbolAt(index));
  };
  if (object.gnu_hash()) {
    VisitGnu(*object.gnu_hash(), wanted.gnu_hash, check);
  } else if (object.sysv_hash()) {
    VisitSysv(*object.sysv_hash(), wanted.sysv_hash, check);
  }
}

}  // namespace

std::optional<Found> Lookup(const DynamicObject& object, const Wanted& wanted) {
  std::optional<Found> found;
  std::optional<Found> alone;
  int newer = 0;
  VisitNamed(object, wanted, [&](uint32_t index, const Symbol& symbol) {
    if (!CanServe(symbol, wanted.jump_slot)) return false;
    const Match match = MatchVersion(object, symbol, wanted);
    if (match == Match::kIfAlone && newer++ == 0) alone = Found{index, symbol};
    if (match != Match::kYes) return false;
    found = Found{index, symbol};
    return true;
  });
  if (!found && newer == 1) found = alone;
  // One that is local or hidden ends the search in this object.
  if (found && !CanBind(found->symbol)) return std::nullopt;
  return found;
}

std::optional<Found> LookupAnyVersion(const DynamicObject& object, std::string_view name) {
  return LookupAnyVersion(object, MakeWanted(name));
}

std::optional<Found> LookupAnyVersion(const DynamicObject& object, const Wanted& wanted) {
  std::optional<Found> found;
  VisitNamed(object, wanted, [&](uint32_t index, const Symbol& symbol) {
    if (!CanServe(symbol, true) || !CanBind(symbol)) return false;
    if (!found || !symbol.hidden_version) found = Found{index, symbol};
    return !symbol.hidden_version;
  });
  return found;
}

}  // namespace cuproof
