#include <fmt/format.h>

#include <cctype>

#include "rule/source_rules.h"
#include "target/table.h"

namespace cuproof {
namespace {

// 15 of "g++-15", "gcc-15"; 21 of "clang++-21". 0: none is named.
uint32_t CompilerIn(std::string_view text, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
      // "g++-14" stands in "clang++-14", too.
      if (at > 0 && std::isalpha(static_cast<unsigned char>(text[at - 1])) != 0) continue;
      std::string_view rest = text.substr(at + name.size());
      rest = rest.substr(0, rest.find_first_not_of("0123456789"));
      if (!rest.empty() && rest.size() <= 2) return ParseNumber(rest);
    }
  }
  return 0;
}

bool NamesHostCompiler(std::string_view line) {
  for (const std::string_view word : {"ccbin", "NVCC_CCBIN", "CUDA_HOST_COMPILER", "CUDAHOSTCXX",
                                      "CMAKE_CXX_COMPILER", "compiler-bindir"}) {
    if (line.find(word) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

void RuleSourceCompiler(const SourceContext& context, std::vector<Finding>& findings) {
  if (!context.target.cuda) return;
  const Table& table = Table::Get("host_compilers");
  for (size_t i = 0; i < table.size(); ++i) {
    if (ParseVersion(table.At(i, "cuda")) != *context.target.cuda) continue;
    for (const BuildLine& line : context.lines) {
      if (line.conditional || !NamesHostCompiler(line.text)) continue;
      const uint32_t gcc = CompilerIn(line.text, {"g++-", "gcc-"});
      const uint32_t clang = CompilerIn(line.text, {"clang++-", "clang-"});
      const uint32_t most_gcc = ParseNumber(table.At(i, "gcc"));
      const uint32_t most_clang = ParseNumber(table.At(i, "clang"));
      if (gcc <= most_gcc && clang <= most_clang) continue;
      const bool is_gcc = gcc > most_gcc;
      const std::string most =
          is_gcc ? fmt::format("GCC {}", most_gcc) : fmt::format("Clang {}", most_clang);
      Finding finding = NewSourceFinding(context, "CP705", Severity::kError);
      finding.message =
          fmt::format("compiles for {} {}; nvcc of CUDA {} takes up to {}",
                      is_gcc ? "GCC" : "Clang", is_gcc ? gcc : clang, table.At(i, "cuda"), most);
      AddLine(context, line.line, is_gcc ? "g++-" : "clang++-", finding);
      finding.evidence.push_back(is_gcc ? "#error -- unsupported GNU version!"
                                        : "#error -- unsupported clang version!");
      finding.fix = is_gcc ? fmt::format("NVCC_CCBIN=g++-{}", most_gcc)
                           : fmt::format("NVCC_CCBIN=clang++-{}", most_clang);
      finding.source = "data/host_compilers.tsv; report R89";
      finding.verified_on = table.At(i, "verified_on");
      findings.push_back(std::move(finding));
    }
  }
}

}  // namespace cuproof
