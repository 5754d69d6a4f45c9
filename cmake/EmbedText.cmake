# embed_text(OUT_VAR FUNCTION FILE...) writes a C++ source that defines
#   std::span<const cuproof::EmbeddedText> cuproof::FUNCTION();
# with one {name, text} for each file. It is rewritten when a file changes.
function(embed_text out_var function)
  set(out ${CMAKE_BINARY_DIR}/embedded/${function}.cc)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  set(rows "")
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND arrays "constexpr unsigned char k_${name}[] = {${bytes}0};\n")
    string(APPEND rows "    {\"${name}\", View(k_${name}, sizeof(k_${name}) - 1)},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT
"#include \"bytes/embedded.h\"
namespace cuproof {
namespace {
@arrays@
std::string_view View(const unsigned char* text, std::size_t size) {
  return {reinterpret_cast<const char*>(text), size};
}
}  // namespace
std::span<const EmbeddedText> @function@() {
  static const EmbeddedText kTexts[] = {
@rows@  };
  return kTexts;
}
}  // namespace cuproof
")
  set(${out_var} ${out} PARENT_SCOPE)
endfunction()
