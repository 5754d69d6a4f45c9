#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace cuproof {

/// One statement of a PTX function: "@%p1 ld.local.v2.f32 {%f1,%f2}, [%rd4+8];".
struct PtxStatement {
  uint64_t offset = 0;      // in the text
  std::string_view guard;   // "%p1", "!%p1"; empty: none
  std::string_view opcode;  // "ld.local.v2.f32"; a label: "$L__BB0_2:"; a directive: ".local"
  std::vector<std::string_view> operands;  // "{%f1,%f2}", "[%rd4+8]"; of a directive: its words

  bool IsLabel() const { return !opcode.empty() && opcode.back() == ':'; }
  /// Whether the opcode is `name`, or `name` and modifiers.
  bool Is(std::string_view name) const;
  /// Whether one of the opcode's parts is `part`: "v4" of "ld.shared.v4.f32".
  bool Has(std::string_view part) const;
};

/// The body of one .entry or .func, scopes within it flattened.
struct PtxBody {
  std::string_view name;
  bool is_entry = false;
  std::vector<PtxStatement> statements;
};

/// A variable of the module or of a function: ".shared .align 4 .b8 tile[1024];".
struct PtxVariable {
  std::string_view name;
  std::string_view space;  // "shared"
  uint64_t align = 0;      // bytes
  uint64_t bytes = 0;      // 0: not told
};

struct PtxModule {
  std::vector<PtxStatement> globals;  // directives outside of functions
  std::vector<PtxBody> bodies;
};

/// Splits a text into statements. Text that is no PTX gives statements that no rule knows.
PtxModule SplitPtx(std::string_view text);

/// Of a directive that declares one; an empty name: it declares none.
PtxVariable VariableOf(const PtxStatement& directive);

}  // namespace cuproof
