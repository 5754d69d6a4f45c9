#pragma once
#include <cstddef>
#include <span>
#include <string_view>

namespace cuproof {

/// A file of the source tree that was compiled into the program: its name without suffix, its text.
struct EmbeddedText {
  std::string_view name;
  std::string_view text;
};

/// The tables of data/.
std::span<const EmbeddedText> EmbeddedTables();
/// The pages of docs/findings/.
std::span<const EmbeddedText> EmbeddedPages();
/// The library of inject/, which `cuproof run` preloads.
std::string_view EmbeddedInjectLibrary();
/// data/torch_symbols.bin.
std::string_view EmbeddedTorchSymbols();

}  // namespace cuproof
