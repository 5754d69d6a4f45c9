#include <fmt/format.h>

#include <algorithm>

#include "rule/declared_name.h"
#include "rule/rule.h"
#include "symbol/demangle.h"

namespace cuproof {
namespace {

constexpr size_t kMostTold = 5;

// Of a name that some object has nothing of the kind is said.
std::string OnlyDeclared(const HostSymbol& symbol) {
  return symbol.elsewhere.empty() ? DeclaredOnly(symbol.name) : std::string();
}

std::string WhyOf(const HostSymbol& symbol) {
  if (std::string text = OnlyDeclared(symbol); !text.empty()) return text;
  if (symbol.string_abi) {
    return symbol.old_string ? "built with the old std::string ABI (_GLIBCXX_USE_CXX11_ABI=0), and "
                               "this torch has the new one"
                             : "built with the new std::string ABI, and this torch has the old one "
                               "(_GLIBCXX_USE_CXX11_ABI=0)";
  }
  if (!symbol.nearest.empty()) return "built for a torch with other parameters";
  if (symbol.not_linked) return "it is not linked with the library that has it";
  if (!symbol.elsewhere.empty()) return "loaded without what has it in scope";
  return "";
}

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// "-lc10" of libc10.so.
std::string LinkerOption(const std::string& name) {
  const size_t end = name.find(".so");
  if (!name.starts_with("lib") || end == std::string::npos) return "-l:" + name;
  return "-l" + name.substr(3, end - 3);
}

}  // namespace

void RuleUndefinedSymbol(const FileContext& context, std::vector<Finding>& findings) {
  const HostLoad& load = *context.file.host;
  // With a library away, what it would give is away too: CP301 says it once.
  if (std::any_of(load.libraries.begin(), load.libraries.end(),
                  [](const HostLibrary& library) { return !IsDriverLibrary(library.name); })) {
    return;
  }
  std::vector<const HostSymbol*> symbols;
  for (const HostSymbol& symbol : load.symbols) {
    if (symbol.version.empty()) symbols.push_back(&symbol);
  }
  if (symbols.empty()) return;
  // One that can be explained tells more than the first.
  std::stable_sort(symbols.begin(), symbols.end(), [](const HostSymbol* a, const HostSymbol* b) {
    return std::tuple(OnlyDeclared(*a).empty(), !a->string_abi, a->nearest.empty(),
                      a->elsewhere.empty()) < std::tuple(OnlyDeclared(*b).empty(), !b->string_abi,
                                                         b->nearest.empty(), b->elsewhere.empty());
  });
  const HostSymbol& first = *symbols.front();
  Finding finding = NewFinding(context, "CP201", LoadSeverity(load));
  finding.subject = first.name;
  finding.message = fmt::format("{} is in no library that it can see", DemangledOrSame(first.name));
  if (symbols.size() > 1) finding.message += fmt::format(", and {} more", symbols.size() - 1);
  const std::string why = WhyOf(first);
  if (!why.empty()) finding.message += ": " + why;
  for (size_t i = 0; i < symbols.size() && i < kMostTold; ++i) {
    const HostSymbol& symbol = *symbols[i];
    finding.evidence.push_back("undefined symbol: " + symbol.name);
    if (!symbol.nearest.empty()) {
      finding.evidence.push_back(fmt::format("{}: {}", symbol.nearest_file, symbol.nearest));
    }
    if (!symbol.elsewhere.empty()) finding.evidence.push_back("it is in " + symbol.elsewhere);
    if (!symbol.chain.empty()) finding.evidence.push_back("through " + symbol.chain);
  }
  const HostFacts& facts = load.facts;
  if (!facts.torch_range.empty()) {
    finding.evidence.push_back("what it wants of torch is in " + facts.torch_range);
    finding.evidence.insert(finding.evidence.end(), facts.bounds.begin(), facts.bounds.end());
  }
  if (!OnlyDeclared(first).empty()) {
    finding.fix = "take the call out: no release of the library that we know has it";
  } else if (first.string_abi) {
    finding.fix =
        "take the wheel for this torch's ABI, or rebuild it against this torch "
        "(pip install --no-build-isolation)";
  } else if (facts.wants_torch || !first.nearest.empty()) {
    finding.fix = "install the build for this torch, or rebuild it against this torch";
  } else {
    finding.fix =
        "link it with the library that has it, or install the version that it was built for";
  }
  if (first.not_linked) {
    const std::string library = BaseName(first.elsewhere);
    finding.fix = fmt::format("link it with {} ({})", library, LinkerOption(library));
    if (library.starts_with("libtorch") || library.starts_with("libc10")) {
      finding.fix += ", as torch.utils.cpp_extension's CppExtension and CUDAExtension do";
    }
  } else if (!first.elsewhere.empty()) {
    finding.fix = "import the package that loads it first";
  }
  finding.source = "ld.so(8): symbol search order";
  finding.verified_on = "glibc 2.36, tools/loader_oracle";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
