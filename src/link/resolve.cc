#include "link/resolve.h"

#include <algorithm>
#include <charconv>

namespace cuproof {
namespace {

// A linker stores each name once; hostile symbols share one long text, and hashing it for each of a
// million takes for ever. All names of libtorch_python are less than 1 MB.
constexpr uint64_t kMaxNameBytes = uint64_t{64} << 20;
constexpr size_t kMaxMissing = 100'000;

// glibc looks for a versioned symbol in every object of the scope, not only in the one that the
// version names: from 2.31 on, so that a symbol can move (bug 24741 of glibc).
uint32_t Bind(const Process& process, const std::vector<uint32_t>& scope, const Wanted& wanted) {
  for (const uint32_t index : scope) {
    const DynamicObject& object = process.objects()[index].dynamic();
    // Nothing can be said of damaged exports: no false alarm.
    if (object.exports_unknown() || Lookup(object, wanted)) return index;
  }
  return kNoObject;
}

uint32_t Bind(const Process& process, const std::vector<uint32_t>& local, const Wanted& wanted,
              uint32_t self) {
  if (self != kNoObject && process.objects()[self].dynamic().symbolic) {
    if (Bind(process, {self}, wanted) != kNoObject) return self;
  }
  const uint32_t global = Bind(process, process.global_scope(), wanted);
  return global != kNoObject ? global : Bind(process, local, wanted);
}

// Numbers in it count as numbers: 3.4.9 < 3.4.30.
bool VersionLess(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    uint64_t left = 0;
    uint64_t right = 0;
    const auto left_end = std::from_chars(a.data(), a.data() + a.size(), left);
    const auto right_end = std::from_chars(b.data(), b.data() + b.size(), right);
    const auto left_size = static_cast<size_t>(left_end.ptr - a.data());
    const auto right_size = static_cast<size_t>(right_end.ptr - b.data());
    if (left_size != 0 && right_size != 0) {
      if (left != right) return left < right;
      a.remove_prefix(left_size);
      b.remove_prefix(right_size);
      continue;
    }
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.size() < b.size();
}

// "GLIBCXX_" of "GLIBCXX_3.4.30".
std::string_view FamilyOf(std::string_view version) {
  const size_t digit = version.find_first_of("0123456789");
  return version.substr(0, digit);
}

std::string NewestOf(const DynamicObject& object, std::string_view version) {
  std::string_view newest;
  for (const VersionDefinition& definition : object.definitions) {
    if (definition.base || FamilyOf(definition.name) != FamilyOf(version)) continue;
    if (VersionLess(newest, definition.name)) newest = definition.name;
  }
  return std::string(newest);
}

void CheckVersions(const Process& process, uint32_t index, std::vector<VersionError>& errors) {
  const LoadedObject& object = process.objects()[index];
  std::vector<std::pair<std::string_view, uint32_t>> providers;
  for (const VersionNeed& need : object.dynamic().needs) {
    auto known = std::find_if(providers.begin(), providers.end(),
                              [&](const auto& entry) { return entry.first == need.file; });
    if (known == providers.end()) {
      providers.emplace_back(need.file, process.FindLoaded(std::string(need.file)));
      known = providers.end() - 1;
      const uint32_t provider = known->second;
      if (provider != kNoObject && process.objects()[provider].dynamic().definitions.empty() &&
          process.objects()[provider].dynamic().damage.empty()) {
        errors.push_back(
            {VersionErrorKind::kNoInformation, std::string(need.file), "", index, provider, ""});
      }
    }
    // A library that is missing is told as such.
    if (known->second == kNoObject) continue;
    const DynamicObject& provider = process.objects()[known->second].dynamic();
    if (provider.definitions.empty() || !provider.damage.empty()) continue;
    const bool there =
        std::any_of(provider.definitions.begin(), provider.definitions.end(),
                    [&](const VersionDefinition& definition) {
                      return definition.hash == need.hash && definition.name == need.name;
                    });
    if (there) continue;
    errors.push_back({need.weak ? VersionErrorKind::kWeakNotFound : VersionErrorKind::kNotFound,
                      std::string(need.file), std::string(need.name), index, known->second,
                      NewestOf(provider, need.name)});
  }
}

// Why a symbol has no binding: looks at what is near.
void Explain(const Process& process, const std::vector<uint32_t>& scope, const Wanted& wanted,
             MissingSymbol& missing) {
  const auto other_version = [&](uint32_t index) {
    const DynamicObject& object = process.objects()[index].dynamic();
    const auto found = LookupAnyVersion(object, wanted);
    if (!found) return false;
    missing.reason = MissingReason::kOtherVersion;
    missing.elsewhere = index;
    missing.other_version = object.VersionText(found->symbol.version);
    return true;
  };
  const uint32_t named = wanted.version_file.empty()
                             ? kNoObject
                             : process.FindLoaded(std::string(wanted.version_file));
  if (named != kNoObject && other_version(named)) return;
  for (uint32_t i = 0; i < process.objects().size(); ++i) {
    if (!Lookup(process.objects()[i].dynamic(), wanted)) continue;
    missing.reason = MissingReason::kNotInScope;
    missing.elsewhere = i;
    return;
  }
  for (const uint32_t index : process.global_scope()) {
    if (other_version(index)) return;
  }
  for (const uint32_t index : scope) {
    if (other_version(index)) return;
  }
}

void CheckSymbols(const Process& process, const std::vector<uint32_t>& scope, uint32_t index,
                  LoadReport& report) {
  const DynamicObject& object = process.objects()[index].dynamic();
  uint64_t bytes = 0;
  for (const SymbolReference& reference : object.References()) {
    const Symbol symbol = object.SymbolAt(reference.symbol);
    bytes += symbol.name.size();
    const bool names = bytes > kMaxNameBytes;
    if (names || report.missing_symbols.size() == kMaxMissing) {
      report.damage.push_back(
          {ErrorCode::kTooLarge,
           names ? "its imports have more than 64 MB of names: the rest was not looked up"
                 : "100,000 symbols are missing: the rest was not looked up",
           process.objects()[index].path, std::nullopt});
      return;
    }
    if (symbol.name.empty()) continue;
    Wanted wanted = MakeWanted(object, symbol);
    wanted.jump_slot = reference.function_only;
    if (symbol.binding == SymbolBinding::kWeak) continue;
    if (Bind(process, scope, wanted, index) != kNoObject) continue;
    MissingSymbol missing;
    missing.name = symbol.name;
    missing.version = wanted.version;
    missing.version_file = wanted.version_file;
    missing.wanted_by = index;
    missing.function_only = reference.function_only;
    Explain(process, scope, wanted, missing);
    report.missing_symbols.push_back(std::move(missing));
  }
}

}  // namespace

const char* MissingReasonName(MissingReason reason) {
  switch (reason) {
    case MissingReason::kNotInScope:
      return "not-in-scope";
    case MissingReason::kOtherVersion:
      return "other-version";
    case MissingReason::kNowhere:
      break;
  }
  return "nowhere";
}

const char* VersionErrorKindName(VersionErrorKind kind) {
  switch (kind) {
    case VersionErrorKind::kNoInformation:
      return "no-version-information";
    case VersionErrorKind::kWeakNotFound:
      return "weak-version-not-found";
    case VersionErrorKind::kNotFound:
      break;
  }
  return "version-not-found";
}

bool LoadReport::loads() const {
  const auto fatal = [](const VersionError& error) { return error.fatal(); };
  return !outcome.error && outcome.missing.empty() && missing_symbols.empty() &&
         std::none_of(version_errors.begin(), version_errors.end(), fatal);
}

LoadReport Resolve(const Process& process, LoadOutcome outcome) {
  LoadReport report;
  report.outcome = std::move(outcome);
  for (const uint32_t index : report.outcome.added) {
    for (Error damage : process.objects()[index].dynamic().damage) {
      damage.file = process.objects()[index].path;
      report.damage.push_back(std::move(damage));
    }
    CheckVersions(process, index, report.version_errors);
  }
  for (const uint32_t index : report.outcome.added) {
    CheckSymbols(process, report.outcome.scope, index, report);
  }
  return report;
}

uint32_t BindingOf(const Process& process, const std::vector<uint32_t>& local_scope,
                   const Wanted& wanted) {
  return Bind(process, local_scope, wanted, kNoObject);
}

}  // namespace cuproof
