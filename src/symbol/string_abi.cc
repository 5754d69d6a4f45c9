#include "symbol/string_abi.h"

#include "symbol/mangled_walk.h"

namespace cuproof {

const char* StringAbiName(StringAbi abi) {
  switch (abi) {
    case StringAbi::kOld:
      return "old";
    case StringAbi::kNew:
      return "new";
    case StringAbi::kMixed:
      return "mixed";
    case StringAbi::kNone:
      break;
  }
  return "none";
}

// Markers, seen by compiling both ways (GCC 12): new names std::__cxx11 and tags functions with
// B5cxx11; old abbreviates std::string as Ss, std::basic_string as Sb, and has St4list.
StringAbi StringAbiOf(std::string_view mangled) {
  bool old_abi = false;
  bool new_abi = false;
  bool in_std = false;
  MangledWalk walk(mangled);
  while (const auto token = walk.Next()) {
    switch (token->kind) {
      case MangledToken::kIdentifier:
        new_abi |= token->text == "__cxx11" || (token->tag && token->text == "cxx11");
        old_abi |= in_std && token->text == "list";
        break;
      case MangledToken::kStandard:
        old_abi |= token->text == "Ss" || token->text == "Sb";
        break;
      case MangledToken::kOther:
        break;
    }
    in_std = token->kind == MangledToken::kStandard && token->text == "St";
  }
  if (old_abi && new_abi) return StringAbi::kMixed;
  if (old_abi) return StringAbi::kOld;
  return new_abi ? StringAbi::kNew : StringAbi::kNone;
}

}  // namespace cuproof
