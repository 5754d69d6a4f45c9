#pragma once
#include <functional>
#include <optional>
#include <string_view>

#include "bytes/view.h"

namespace cuproof {

// What only section headers tell, which no loader reads: a stripped file may have none of it.

/// The bytes of the section of that name; nothing where there is none or the headers are damaged.
std::optional<ByteView> SectionNamed(ByteView file, std::string_view name);

/// Calls visit(name) for each local function and object of .symtab. Not for a file that was
/// stripped.
void ForEachLocalName(ByteView file, const std::function<void(std::string_view)>& visit);

/// Calls visit(text) for each text of .rodata that starts with `prefix` right behind a NUL (or at
/// the start of the section) and ends with one.
void ForEachConstant(ByteView file, std::string_view prefix,
                     const std::function<void(std::string_view)>& visit);

}  // namespace cuproof
