# embed_binary(OUT_VAR FUNCTION FILE) writes a C++ source that defines
#   std::string_view cuproof::FUNCTION();
# with the bytes of FILE. The assembler reads the file: as text in the source it would be five times as
# large, and slow to compile.
function(embed_binary out_var function file)
  set(out ${CMAKE_BINARY_DIR}/embedded/${function}.cc)
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT
"#include \"bytes/embedded.h\"
__asm__(\".section .rodata.@function@,\\\"a\\\",@progbits\\n\"
        \".balign 8\\n\"
        \".globl cuproof_@function@, cuproof_@function@_end\\n\"
        \".hidden cuproof_@function@, cuproof_@function@_end\\n\"
        \"cuproof_@function@:\\n\"
        \".incbin \\\"@file@\\\"\\n\"
        \"cuproof_@function@_end:\\n\"
        \".byte 0\\n\"
        \".previous\\n\");
extern \"C\" {
extern const char cuproof_@function@[] __attribute__((visibility(\"hidden\")));
extern const char cuproof_@function@_end[] __attribute__((visibility(\"hidden\")));
}
namespace cuproof {
std::string_view @function@() {
  return {cuproof_@function@, static_cast<size_t>(cuproof_@function@_end - cuproof_@function@)};
}
}  // namespace cuproof
")
  set_source_files_properties(${out} PROPERTIES OBJECT_DEPENDS ${file})
  set(${out_var} ${out} PARENT_SCOPE)
endfunction()
