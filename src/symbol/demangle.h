#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuproof {

/// The text of an Itanium C++ name (_Z…); nothing where it is none, or one that is too long or
/// expands too far (a name of 100 letters can be made to mean terabytes).
std::optional<std::string> Demangle(std::string_view mangled);

/// The demangled text, or the name as it is.
std::string DemangledOrSame(std::string_view name);

/// A C++ name in its parts.
struct CxxName {
  std::string text;         // all of it
  std::string prefix;       // "vtable for", "guard variable for", "non-virtual thunk to"
  std::string return_type;  // only instances of function templates have one in their name
  std::string qualified;    // "c10::cuda::SetDevice", template arguments included, tags left out
  std::vector<std::string> tags;        // "cxx11" of [abi:cxx11]
  bool function = false;                // has a parameter list
  std::vector<std::string> parameters;  // "(void)" and "()" are none
  std::string suffix;                   // " const", " &&", " [clone .cold]"
};

std::optional<CxxName> SplitCxxName(std::string_view mangled);

/// The same for text that is demangled already.
CxxName SplitDemangled(std::string_view text);

/// "c10::cuda", "c10", "torch::jit": the namespaces and classes around the last part of a qualified
/// name; empty for a plain one.
std::string ScopeOf(std::string_view qualified);

}  // namespace cuproof
